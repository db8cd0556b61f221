# What Doxygen need not see, as there is nothing to say about it. Lines stay where they are.
# A comparison that is defaulted compares member by member.
s/^.*operator(==|<=>)\(.*= default;$//
# Who was moved from is empty.
s/^ *([A-Za-z_]+)\(\1&&[ a-z]*\) noexcept( = default)?;$//
s/^ *([A-Za-z_]+)& operator=\(\1&&[ a-z]*\) noexcept( = default)?;$//
# What a set of flags has besides its enumerators.
s/^IWARP_FLAGS\((.*)\)$/\/** The union of two sets. *\/ constexpr \1 operator|(\1 a, \1 b); \/** Whether all of `flag` is in `set`. *\/ constexpr bool has(\1 set, \1 flag);/
