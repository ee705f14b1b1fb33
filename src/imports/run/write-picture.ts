import { localAdministrator } from '../../access/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import { fingerprintsOf } from '../context/fingerprints.ts';
import type { RunContext } from '../context/run-context.ts';
import { bringPicture } from '../files/fetch-picture.ts';
import { itemSchema } from '../schema/import-schema.ts';

const item = 'picture';

/** The picture of the repository itself, if the source knows one. */
export async function writePicture(context: RunContext): Promise<void> {
  const { deps, row, progress, files, tell, renew, signal } = context;
  const { openPicture } = files;
  const { pictures } = progress.described ?? {};
  if (openPicture === undefined || pictures === undefined) return;
  const before = (await fingerprintsOf(context, [item])).get(item);
  const { digest: known, address } = (before === undefined ? {} : JSON.parse(before)) as Partial<SourcePicture>;
  // Another picture has another address where the forge names it by its content.
  if (!row.isFull && (address ?? '') === pictures.join(' ')) return;
  if (before === undefined && pictures.length === 0) return;
  const { images } = deps.repositories;
  const { digest, problem } = await bringPicture(
    {
      async open() {
        const { owner, name } = await context.at();
        return images.open(localAdministrator, owner, name).catch(nullIfNotFound);
      },
      async replace(upload) {
        const { owner, name } = await context.at();
        return images.replace(localAdministrator, owner, name, upload);
      },
      async remove() {
        const { owner, name } = await context.at();
        return images.remove(localAdministrator, owner, name);
      },
    },
    known ?? null,
    pictures.length === 0 ? null : () => openPicture(pictures),
  ).catch((error: unknown) => {
    // The stream ends with the server.
    signal.throwIfAborted();
    throw error;
  });
  signal.throwIfAborted();
  renew(item);
  if (problem !== null) tell(item, `of the repository ${problem}`);
  const picture: SourcePicture = { digest, address: pictures.join(' ') };
  await context.save({}, async ({ manager }) => {
    const fingerprint = JSON.stringify(picture);
    await manager.upsert(itemSchema, { importId: row.id, item, fingerprint }, ['importId', 'item']);
  });
}

/** The digest of the picture at the source, empty for none, and its addresses there. */
interface SourcePicture {
  digest: string;
  address: string;
}
