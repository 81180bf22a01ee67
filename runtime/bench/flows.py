#!/usr/bin/env python3
"""Writes a capture of N distinct UDP flows over IPv4, interleaved, at least 512 packets.

Flow k has the source 10.0.0.0 + k + 1 and the source port 1024 + k modulo 60,000; all go to
11.0.0.1:9. Frames are 64 bytes on the wire, of which the check sequence is not written.

usage: flows.py N OUT.pcap
"""
import struct
import sys

LENGTH = 60
MACS = bytes.fromhex("020000000002020000000001")


def checksum(header: bytes) -> int:
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(flow: int) -> bytes:
    ip_length = LENGTH - 14
    fields = [0x45, 0, ip_length, 0, 0x4000, 64, 17, 0, 0x0A000001 + flow, 0x0B000001]
    fields[7] = checksum(struct.pack("!BBHHHBBHII", *fields))
    udp = struct.pack("!HHHH", 1024 + flow % 60000, 9, ip_length - 20, 0)
    return (MACS + b"\x08\x00" + struct.pack("!BBHHHBBHII", *fields) + udp).ljust(LENGTH, b"\0")


def main() -> None:
    flows, out = int(sys.argv[1]), sys.argv[2]
    with open(out, "wb") as capture:
        capture.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for packet in range(flows * -(-512 // flows)):
            capture.write(struct.pack("<IIII", 0, 0, LENGTH, LENGTH) + frame(packet % flows))


if __name__ == "__main__":
    main()
