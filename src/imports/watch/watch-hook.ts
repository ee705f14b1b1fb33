import { isRefusal } from '../../kernel/index.ts';
import { fingerprintsOf } from '../context/fingerprints.ts';
import type { RunContext } from '../context/run-context.ts';
import type { ImportDeps } from '../deps.ts';
import { itemSchema } from '../schema/import-schema.ts';
import type { Source } from '../sources/source.ts';
import { pokeUrl } from './poke-import.ts';

const item = 'hook';

/**
 * A followed import has a webhook at the source where the token may make one, so that changes come at once; without it,
 * the source is asked again and again. The last run removes it, as does one that is not followed any more.
 */
export async function keepHook(context: RunContext): Promise<void> {
  const { deps, row, source, tell, renew } = context;
  if (source.addHook === undefined) return;
  if (row.isFull) renew(item);
  const known = readHook((await fingerprintsOf(context, [item])).get(item));
  const url = row.watchMs === null || row.isLast ? null : pokeUrl(deps, row.id);
  if (known !== null && known.url !== url) {
    if (!(await removeHook(source, known.id)))
      tell('to do', `Remove the webhook of this server at ${row.url}: the token may not do it.`);
    await context.save({}, async ({ manager }) => void (await manager.delete(itemSchema, { importId: row.id, item })));
  }
  if (url === null || known?.url === url || (row.run > 1 && !row.isFull)) return;
  const id = await addHook(source, url);
  if (id === null)
    return tell(item, `the token may not make a webhook there: changes come when the source is asked again`);
  await context.save({}, async ({ manager }) => {
    const fingerprint = JSON.stringify({ id, url });
    await manager.upsert(itemSchema, { importId: row.id, item, fingerprint }, ['importId', 'item']);
  });
}

/** One that a killed run has made is taken over. */
async function addHook(source: Source, url: string): Promise<string | null> {
  try {
    const before = (await source.hooks()).find((each) => each.url === url && each.id !== undefined);
    return before?.id ?? (await source.addHook!(url));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return null;
  }
}

async function removeHook(source: Source, id: string): Promise<boolean> {
  try {
    await source.removeHook!(id);
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return false;
  }
}

/** Removes the webhook of an import that is ended by hand, as far as the source allows. */
export async function forgetHook({ db }: ImportDeps, importId: string, open: () => Source): Promise<void> {
  const known = readHook((await db.read.findOneBy(itemSchema, { importId, item }))?.fingerprint);
  if (known === null) return;
  await removeHook(open(), known.id);
  await db.write(({ manager }) => manager.delete(itemSchema, { importId, item }));
}

const readHook = (fingerprint: string | undefined): { id: string; url: string } | null =>
  fingerprint === undefined ? null : (JSON.parse(fingerprint) as { id: string; url: string });
