/**
 * Removes the symbol table and the debug information from an ELF program, as `strip` does, without needing binutils:
 * everything behind the last loaded byte is removed, and the section table is rewritten without it. The dynamic symbols
 * stay; they are loaded.
 * @param program a 64-bit little-endian ELF file
 * @returns the smaller program
 */
export function stripSymbols(program: Buffer): Buffer {
  const isElf64 = program.readUInt32BE(0) === 0x7f454c46 && program[4] === 2 && program[5] === 1;
  if (!isElf64) throw new Error('The runtime is not a 64-bit little-endian ELF program');

  const header = { sectionTable: 0x28, sectionCount: 0x3c, namesIndex: 0x3e };
  const sectionSize = 64;
  const at = { name: 0x00, type: 0x04, flags: 0x08, offset: 0x18, size: 0x20, link: 0x28, info: 0x2c };
  const loaded = 2n;
  const withoutBytes = 8;

  const tableOffset = Number(program.readBigUInt64LE(header.sectionTable));
  const all = Array.from({ length: program.readUInt16LE(header.sectionCount) }, (_, index) =>
    Buffer.from(program.subarray(tableOffset + index * sectionSize, tableOffset + (index + 1) * sectionSize)),
  );
  const namesSection = all[program.readUInt16LE(header.namesIndex)];
  if (!namesSection) throw new Error('The runtime has no section names');
  const namesStart = Number(namesSection.readBigUInt64LE(at.offset));
  const nameOf = (section: Buffer): string => {
    const start = namesStart + section.readUInt32LE(at.name);
    return program.toString('latin1', start, program.indexOf(0, start));
  };

  const isKept = (section: Buffer, index: number): boolean =>
    index === 0 || (section.readBigUInt64LE(at.flags) & loaded) !== 0n;
  const kept = all.filter(isKept);
  const newIndex = new Map(all.filter(isKept).map((section, index) => [all.indexOf(section), index]));
  const end = Math.max(
    ...kept
      .filter((section) => section.readUInt32LE(at.type) !== withoutBytes)
      .map((section) => Number(section.readBigUInt64LE(at.offset) + section.readBigUInt64LE(at.size))),
  );

  let names = '\0';
  const sections = kept.map((section, index) => {
    const written = Buffer.from(section);
    if (index > 0) {
      written.writeUInt32LE(names.length, at.name);
      names += `${nameOf(section)}\0`;
    }
    // Links to a removed section (a relocation's symbol table in a static program) become 0.
    written.writeUInt32LE(newIndex.get(section.readUInt32LE(at.link)) ?? 0, at.link);
    const infoIsSection = (section.readBigUInt64LE(at.flags) & 0x40n) !== 0n;
    if (infoIsSection) written.writeUInt32LE(newIndex.get(section.readUInt32LE(at.info)) ?? 0, at.info);
    return written;
  });
  const namesHeader = Buffer.alloc(sectionSize);
  namesHeader.writeUInt32LE(names.length, at.name);
  names += '.shstrtab\0';
  namesHeader.writeUInt32LE(3, at.type);
  namesHeader.writeBigUInt64LE(BigInt(end), at.offset);
  namesHeader.writeBigUInt64LE(BigInt(names.length), at.size);
  namesHeader.writeBigUInt64LE(1n, 0x30);
  sections.push(namesHeader);

  const tableStart = Math.ceil((end + names.length) / 8) * 8;
  const stripped = Buffer.alloc(tableStart + sections.length * sectionSize);
  program.copy(stripped, 0, 0, end);
  stripped.write(names, end, 'latin1');
  sections.forEach((section, index) => section.copy(stripped, tableStart + index * sectionSize));
  stripped.writeBigUInt64LE(BigInt(tableStart), header.sectionTable);
  stripped.writeUInt16LE(sections.length, header.sectionCount);
  stripped.writeUInt16LE(sections.length - 1, header.namesIndex);
  return stripped;
}
