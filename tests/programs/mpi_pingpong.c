/* Two ranks send each other messages of 8 octets to 4 MiB, a hundred times each; every octet is
 * compared. Prints a line for each size, and ends with a status other than 0 if one was wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLeast = 8, kMost = 4 << 20, kRounds = 100 };

static unsigned char octet(int size, int round, int way, int i) {
  return (unsigned char)(i * 7 + i / 251 + size + round * 3 + way);
}

static void send(unsigned char* message, int size, int round, int way, int to) {
  for (int i = 0; i < size; ++i) message[i] = octet(size, round, way, i);
  MPI_Send(message, size, MPI_BYTE, to, round, MPI_COMM_WORLD);
}

static void receive(unsigned char* message, int size, int round, int way, int from) {
  for (int i = 0; i < size; ++i) message[i] = 0;
  MPI_Recv(message, size, MPI_BYTE, from, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < size; ++i) {
    if (message[i] == octet(size, round, way, i)) continue;
    fprintf(stderr, "octet %d of %d is wrong in round %d\n", i, size, round);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  unsigned char* const message = malloc(kMost);
  if (ranks != 2 || message == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int size = kLeast; size <= kMost; size *= 2) {
    const double begin = MPI_Wtime();
    for (int round = 0; round < kRounds; ++round) {
      if (rank == 0) send(message, size, round, 0, 1);
      receive(message, size, round, 1 - rank, 1 - rank);
      if (rank == 1) send(message, size, round, 1, 0);
    }
    if (rank == 0)
      printf("%d octets, %d times: %.1f us\n", size, kRounds,
             (MPI_Wtime() - begin) / kRounds * 1e6);
  }
  free(message);
  MPI_Finalize();
  return 0;
}
