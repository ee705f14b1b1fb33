import { createReadStream } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { readTar } from '../../files/index.ts';
import type { TarMember } from '../../files/index.ts';
import { explainFullDisk, isDomainError } from '../../kernel/index.ts';
import { unreadable } from './copy-folder.ts';
import { fileLimits } from './file-limits.ts';

type Limits = Record<'totalBytes' | 'entries' | 'depth' | 'plainBytes' | 'ratio', number>;

/**
 * Unpacks a `.tar.gz`. Refuses paths outside of the folder, links, devices, duplicate names and archives that expand
 * far beyond any export; the caller must remove the files written until then. Throws `unreadable_import_files`,
 * `disk_full`.
 */
export async function unpackArchive(file: string, to: string, limits: Limits = fileLimits): Promise<void> {
  const packed = (await stat(file)).size;
  const most = Math.min(limits.totalBytes, Math.max(limits.plainBytes, packed * limits.ratio));
  let [bytes, entries, longName] = [0, 0, ''];
  try {
    await mkdir(to, { recursive: true, mode: 0o700 });
    await pipeline(createReadStream(file), createGunzip(), async (source) => {
      for await (const member of readTar(source as AsyncIterable<Buffer>)) {
        // Global headers of the archive contain only its date and writer.
        if (member.type === 'g') continue;
        // GNU's extension for names that are too long for their field.
        if (member.type === 'L') {
          longName = await readLongName(member);
          continue;
        }
        entries += 1;
        bytes += member.bytes;
        if (entries > limits.entries) throw unreadable(`The archive has more than ${limits.entries} files.`);
        if (bytes > most) throw unreadable('The archive would become far larger than it is.');
        const name = checkName(longName || member.name, limits.depth);
        longName = '';
        const target = path.join(to, name);
        if (member.type === '5') await mkdir(target, { recursive: true, mode: 0o700 });
        else if (member.type !== '0')
          throw unreadable(`${name} is a link or no plain file; the archive is not imported.`);
        else await writeMember(member, target);
      }
      // Reads past the end marker, so that a corrupt file is noticed.
      for await (const _ of source);
    });
  } catch (error) {
    throw explainArchive(error);
  }
}

const nameBytes = 4_096;

async function readLongName({ bytes, content }: TarMember): Promise<string> {
  if (bytes > nameBytes) throw unreadable('The archive has a name that is too long.');
  const parts: Buffer[] = [];
  for await (const part of content()) parts.push(part);
  return Buffer.concat(parts).toString('utf8').replace(/\0.*$/s, '');
}

/** A relative path of plain segments. */
function checkName(given: string, depth: number): string {
  const segments = given.split('/').filter((segment, at) => segment !== '' && (segment !== '.' || at > 0));
  const isOut = given.startsWith('/') || segments.some((segment) => segment === '..' || segment === '.');
  if (isOut || given.includes('\0') || given.length > nameBytes)
    throw unreadable(`${JSON.stringify(given.slice(0, 200))} leads out of the archive; it is not imported.`);
  if (segments.length > depth) throw unreadable(`The archive is deeper than ${depth} folders.`);
  return segments.join('/');
}

async function writeMember({ content }: TarMember, target: string): Promise<void> {
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
  // Fails if the name exists: a second file of the same name would hide the first.
  const file = await open(target, 'wx', 0o600);
  try {
    for await (const part of content()) await file.write(part);
  } finally {
    await file.close();
  }
}

function explainArchive(error: unknown): unknown {
  const explained = explainFullDisk(error);
  if (isDomainError(explained)) return explained;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST' || code === 'ENOTDIR' || code === 'EISDIR')
    return unreadable('The archive has a name twice; it is not imported.');
  if (code?.startsWith('Z_') || (error instanceof Error && error.message.startsWith('an archive')))
    return unreadable('The archive is cut off, or no .tar.gz.');
  return error;
}
