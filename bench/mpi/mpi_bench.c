/* Two ranks of MPI, as a program that knows nothing of what carries its messages: ping-pong, or a
 * stream of messages of which a few are under way at a time. The first rank prints what one way of
 * a ping-pong took (microseconds), or the octets a second of the stream, and the seconds of both.
 *
 * usage: mpi_bench ping-pong|stream OCTETS MESSAGES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kUnderWay = 16, kTag = 1 };

typedef void (*Exchange)(char* buffer, int octets, int messages, int rank);

static void ping_pong(char* buffer, int octets, int messages, int rank) {
  for (int i = 0; i < messages; ++i) {
    if (rank == 0) MPI_Send(buffer, octets, MPI_BYTE, 1, kTag, MPI_COMM_WORLD);
    MPI_Recv(buffer, octets, MPI_BYTE, 1 - rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(buffer, octets, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
  }
}

/* Over when the second rank has all of it. Each message under way has a place of its own. */
static void stream(char* buffer, int octets, int messages, int rank) {
  MPI_Request requests[kUnderWay];
  for (int done = 0; done < messages;) {
    const int some = messages - done < kUnderWay ? messages - done : kUnderWay;
    for (int i = 0; i < some; ++i) {
      char* const place = buffer + (size_t)i * (size_t)octets;
      if (rank == 0) MPI_Isend(place, octets, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &requests[i]);
      if (rank == 1) MPI_Irecv(place, octets, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(some, requests, MPI_STATUSES_IGNORE);
    done += some;
  }
  ping_pong(buffer, 1, 1, rank);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int octets = argc == 4 ? atoi(argv[2]) : 0, messages = argc == 4 ? atoi(argv[3]) : 0;
  const int streams = argc == 4 && strcmp(argv[1], "stream") == 0;
  const int known = streams || (argc == 4 && strcmp(argv[1], "ping-pong") == 0);
  if (ranks != 2 || !known || octets <= 0 || messages <= 0) {
    fprintf(stderr, "usage: mpi_bench ping-pong|stream OCTETS MESSAGES, with two ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  char* const buffer = malloc((size_t)octets * kUnderWay);
  if (buffer == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  memset(buffer, 1, (size_t)octets * kUnderWay);
  const Exchange exchange = streams ? stream : ping_pong;
  exchange(buffer, octets, messages / 10 + 1, rank); /* warm */
  const double begin = MPI_Wtime();
  exchange(buffer, octets, messages, rank);
  const double seconds = MPI_Wtime() - begin;
  if (rank == 0)
    printf("%f %f\n", streams ? (double)octets * messages / seconds : seconds / messages / 2 * 1e6,
           seconds);
  free(buffer);
  MPI_Finalize();
  return 0;
}
