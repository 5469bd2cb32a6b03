# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Compare pictures that programs have drawn on different GPUs.

usage: pictures.py compare GOT WANT TOLERANCE STRAYS
       pictures.py beside OUT PICTURE ...
       pictures.py convert OUT PICTURE
       pictures.py colours PICTURE COUNT

"compare" fails if more than STRAYS pixels, those on edges, differ by more than
TOLERANCE of 255 in a channel, or if the picture is of one colour. "beside" puts
pictures side by side. "convert" reads a PPM file (P6). "colours"
fails if a picture has fewer. All others are PNG files of 8 bits for red, green, blue (and
alpha, which does not count).
"""
import pathlib
import re
import struct
import sys
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}


def chunks(data, name):
    """The chunks of a file: (kind, contents)."""
    if not data.startswith(SIGNATURE):
        sys.exit(f"{name}: no PNG file")
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        (size,) = struct.unpack_from(">I", data, at)
        yield data[at + 4:at + 8], data[at + 8:at + 8 + size]
        at += 12 + size


def paeth(left, above, corner):
    """The one of three that is nearest to their prediction."""
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


def unfilter(kind, row, above, step):
    """Undo a row's filter in place."""
    for i in range(len(row)):
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        guess = (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]
        row[i] = (row[i] + guess) & 255


def read(name):
    """A picture: (width, height, rows of red, green, blue)."""
    parts = list(chunks(pathlib.Path(name).read_bytes(), name))
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if depth != 8 or colour not in CHANNELS or interlaced:
        sys.exit(f"{name}: neither RGB nor RGBA with 8 bits for each")
    step = CHANNELS[colour]
    data = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    rows, above = [], bytearray(width * step)
    for y in range(height):
        start = y * (1 + width * step)
        row = bytearray(data[start + 1:start + 1 + width * step])
        unfilter(data[start], row, above, step)
        above = row
        rows.append(bytes(row[i] for i in range(len(row)) if i % step < 3))
    return width, height, rows


def write(name, width, height, rows):
    """Write a picture of red, green, blue."""
    def chunk(kind, body):
        crc = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pathlib.Path(name).write_bytes(SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", data) +
                                   chunk(b"IEND", b""))


def compare(got_name, want_name, tolerance, strays):
    """Return: the exit status."""
    got, want = read(got_name), read(want_name)
    if got[:2] != want[:2]:
        print(f"{got_name} is {got[0]}x{got[1]}, expected {want[0]}x{want[1]}")
        return 1
    if len({row[i:i + 3] for row in got[2] for i in range(0, len(row), 3)}) < 2:
        print(f"{got_name} is of one colour")
        return 1
    bad = []
    for y in range(got[1]):
        for x in range(got[0]):
            a, b = got[2][y][3 * x:3 * x + 3], want[2][y][3 * x:3 * x + 3]
            if a != b and max(abs(i - j) for i, j in zip(a, b)) > tolerance:
                bad.append((x, y, tuple(a), tuple(b)))
    print(f"{got_name}: {len(bad)} pixels differ by more than {tolerance}, "
          f"{strays} may")
    if len(bad) <= strays:
        return 0
    for x, y, a, b in bad[:8]:
        print(f"  ({x}, {y}) is {a}, expected {b}")
    return 1


def beside(out, names):
    """Return: the exit status."""
    pictures = [read(name) for name in names]
    height = max(picture[1] for picture in pictures)
    rows = [b"".join(picture[2][y] if y < picture[1] else bytes(3 * picture[0])
                     for picture in pictures) for y in range(height)]
    write(out, sum(picture[0] for picture in pictures), height, rows)
    return 0


def convert(out, name):
    """Return: the exit status."""
    head = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", contents := pathlib.Path(name).read_bytes())
    width, height = map(int, head.groups()) if head else (0, 0)
    data = contents[head.end():] if head else b""
    if not data or len(data) != 3 * width * height:
        sys.exit(f"{name}: no PPM file with 8 bits for each colour")
    write(out, width, height, [data[i:i + 3 * width] for i in range(0, len(data), 3 * width)])
    return 0


def colours(name, least):
    """Return: the exit status."""
    found = {row[i:i + 3] for row in read(name)[2] for i in range(0, len(row), 3)}
    print(f"{name}: {len(found)} colours, {least} are expected")
    return len(found) < least


def main(arguments):
    """Return: the exit status."""
    if len(arguments) == 5 and arguments[0] == "compare":
        return compare(arguments[1], arguments[2], int(arguments[3]), int(arguments[4]))
    if len(arguments) > 2 and arguments[0] == "beside":
        return beside(arguments[1], arguments[2:])
    if len(arguments) == 3 and arguments[0] == "convert":
        return convert(arguments[1], arguments[2])
    if len(arguments) == 3 and arguments[0] == "colours":
        return colours(arguments[1], int(arguments[2]))
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
