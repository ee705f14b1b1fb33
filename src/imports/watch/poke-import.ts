import { createHmac, timingSafeEqual } from 'node:crypto';
import { notFound } from '../../kernel/index.ts';
import type { ImportDeps } from '../deps.ts';
import { importSchema } from '../schema/import-schema.ts';

/** A source that tells of each change begins a run at most this often, in milliseconds. */
const shortestMs = 60_000;

const folder = '/repos/import/';
const pathOf = (id: string): string => `${folder}${id}/changes/`;

const secretsOf = ({ key }: Pick<ImportDeps, 'key'>, id: string): Buffer[] =>
  key.decrypting('pokes').map((each) => createHmac('sha256', each).update(id).digest());

/** The address that a webhook of the source calls after a change; null without `base_url`. Its end is a secret. */
export function pokeUrl(deps: Pick<ImportDeps, 'key' | 'settings'>, id: string): string | null {
  const { baseUrl } = deps.settings;
  return baseUrl === null ? null : `${baseUrl}${pathOf(id)}${secretsOf(deps, id)[0]!.toString('hex')}`;
}

/** Whether a webhook of the source is one that an import of this server has made. */
export const isPokeUrl = ({ settings: { baseUrl } }: Pick<ImportDeps, 'settings'>, url: string): boolean =>
  baseUrl !== null && url.startsWith(`${baseUrl}${folder}`);

/**
 * Something has changed at the source: the next run of a followed import begins now, but not within a minute of the
 * last one. What was sent with the call is not read. Throws `import_not_found` for a wrong secret and an import that is
 * not followed alike.
 * @param secret the end of `pokeUrl`
 */
export async function pokeImport(deps: ImportDeps, id: string, secret: string): Promise<void> {
  const given = /^[0-9a-f]{64}$/.test(secret) ? Buffer.from(secret, 'hex') : Buffer.alloc(32);
  const isRight = secretsOf(deps, id).map((each) => timingSafeEqual(each, given));
  const row = isRight.includes(true) ? await deps.db.read.findOneBy(importSchema, { id }) : null;
  if (row === null || row.watchMs === null || row.state === 'ended') throw notFound('import_not_found');
  if (row.state !== 'done') return;
  const nextAt = Math.max(deps.clock.now(), (row.finishedAt ?? 0) + shortestMs);
  if (nextAt >= row.nextAt) return;
  await deps.db.write(({ manager }) =>
    manager.query("UPDATE imports SET next_at = ? WHERE id = ? AND state = 'done' AND next_at > ?", [
      nextAt,
      id,
      nextAt,
    ]),
  );
}
