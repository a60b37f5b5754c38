#!/bin/sh
# damage.sh PROGRAM [text] - makes the sizes in the headers of all its fatbins impossible; with `text`, ends its PTX,
# which must be stored raw, before the last instruction.
program=$1
at() { # PATTERN: the offsets where it occurs
    LC_ALL=C grep -obUaP "$1" "$program" | cut -d: -f1
}
if [ "$2" = text ]; then
    offsets=$(at 'ret;')
    bytes='\000'
    skip=0
else
    offsets=$(at '\x50\xed\x55\xba\x01\x00')
    bytes='\377\377\377\377\377\377\377\177'
    skip=8
fi
[ -n "$offsets" ] || { echo "nothing to damage in $program"; exit 1; }
for offset in $offsets; do
    # shellcheck disable=SC2059
    printf "$bytes" | dd of="$program" bs=1 seek=$((offset + skip)) conv=notrunc 2>/dev/null
done
