import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { paddingOf, readTar, resized, tarBlock, writeZip } from '../../files/index.ts';
import type { TarMember, ZipSource } from '../../files/index.ts';
import type { LfsDeps } from '../deps.ts';
import { maxPointerBytes, minPointerBytes } from '../pointers/read-pointer.ts';
import { lfsRepositorySchema } from '../schema/lfs-schema.ts';
import { objectOfPointer, openObject } from '../transfers/open-object.ts';

/** LFS files are large and rarely compressible. */
const gzipLevel = 1;

/**
 * An archive of a repository in which LFS pointers are replaced by their content, if their object is stored here. Null
 * if the repository has no objects: then git's own archive is the same, and cached.
 * @param openTar starts git's archive
 */
export async function smudgeArchive(
  deps: LfsDeps,
  repositoryId: string,
  format: 'tar.gz' | 'zip',
  openTar: () => Promise<Readable>,
): Promise<Readable | null> {
  const [row] = await deps.db.lookup(lfsRepositorySchema, { repositoryId });
  if (row === undefined || row.objects === 0) return null;
  const members = membersOf(deps, repositoryId, await openTar());
  if (format === 'zip') return writeZip(zipSources(members));
  const tar = Readable.from(tarOf(members), { objectMode: false, highWaterMark: 256 * 1024 });
  const packed = createGzip({ level: gzipLevel });
  tar.on('error', (error) => packed.destroy(error));
  packed.once('close', () => tar.destroy());
  return tar.pipe(packed);
}

interface FilledMember extends Omit<TarMember, 'content'> {
  content: Readable;
}

async function* membersOf(deps: LfsDeps, repositoryId: string, source: Readable): AsyncGenerator<FilledMember> {
  for await (const member of readTar(source as AsyncIterable<Buffer>)) {
    const mayBePointer = member.type === '0' && member.bytes >= minPointerBytes && member.bytes <= maxPointerBytes;
    if (!mayBePointer) {
      yield { ...member, content: Readable.from(member.content(), { objectMode: false }) };
      continue;
    }
    const bytes = await buffer(member.content());
    const object = await objectOfPointer(deps, repositoryId, bytes);
    yield object === null
      ? { ...member, content: Readable.from([bytes], { objectMode: false }) }
      : {
          ...member,
          head: resized(member.head, object.bytes),
          bytes: object.bytes,
          content: (await openObject(deps, object)).stream,
        };
  }
}

async function* tarOf(members: AsyncIterable<FilledMember>): AsyncGenerator<Buffer> {
  for await (const { head, bytes, content } of members) {
    yield head;
    yield* content as AsyncIterable<Buffer>;
    yield Buffer.alloc(paddingOf(bytes));
  }
  yield Buffer.alloc(2 * tarBlock);
}

const types: Readonly<Record<string, number>> = { '0': 0o100000, '5': 0o040000, '2': 0o120000 };

async function* zipSources(members: AsyncIterable<FilledMember>): AsyncGenerator<ZipSource> {
  for await (const { type, name, linkTarget, mode, bytes, content } of members) {
    const kind = types[type];
    if (kind === undefined) continue;
    const target = Buffer.from(linkTarget);
    yield {
      path: type === '5' && !name.endsWith('/') ? `${name}/` : name,
      bytes: type === '2' ? target.length : bytes,
      mode: kind | (type === '2' ? 0o777 : mode & 0o777),
      isGzipped: false,
      open: async () => (type === '2' ? Readable.from([target], { objectMode: false }) : content),
    };
  }
}
