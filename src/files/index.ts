export { digestFile } from './digest-file.ts';
export { nullIfAbsent } from './null-if-absent.ts';
export { paddingOf, readTar, resized, tarBlock } from './read-tar.ts';
export type { TarMember } from './read-tar.ts';
export { syncPath } from './sync-path.ts';
export { writeZip } from './zip-writer.ts';
export type { ZipSource } from './zip-writer.ts';
export { openZipEntry, readZipDirectory } from './zip-reader.ts';
export type { ReadPart, ZipDirectory } from './zip-reader.ts';
