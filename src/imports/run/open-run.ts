import type { Located } from '../../repositories/index.ts';
import { decrypt, encrypt, reencrypt } from '../../sealing/index.ts';
import { unavailable } from '../../kernel/index.ts';
import { SourceClient } from '../client/source-client.ts';
import type { ImportDeps } from '../deps.ts';
import { importGroupSchema } from '../schema/group-schema.ts';
import type { ImportGroupRow } from '../schema/group-schema.ts';
import { importHostSchema, importSchema } from '../schema/import-schema.ts';
import type { ImportRow } from '../schema/import-schema.ts';
import { authorization, openSource } from '../connect/open-source.ts';
import type { SourceAddress } from '../connect/open-source.ts';
import type { SourceNumbers } from '../sources/source-numbers.ts';
import type { Source, TellProblem } from '../sources/source.ts';
import { openFiles, requireFiles } from '../from-files/open-files.ts';
import { addressesOf } from '../links/source-files.ts';
import { createApartNumbers } from '../context/apart-numbers.ts';
import { RunContext } from '../context/run-context.ts';

/** A ciphertext can be decrypted only for its own import and host. */
const placeOf = (id: string, host: string): string => `import:${id}:${host}`;

export const encryptToken = ({ key, random }: ImportDeps, id: string, host: string, token: string): string =>
  encrypt(key.for('secrets'), random, placeOf(id, host), token);

/** Empty if there is none. Throws `import_token_closed` if the instance key has changed. */
export function decryptToken(
  { key }: ImportDeps,
  { id, host, secretCiphertext }: Pick<ImportRow, 'id' | 'host' | 'secretCiphertext'>,
): string {
  if (secretCiphertext === null) return '';
  const token = decrypt(key.decrypting('secrets'), placeOf(id, host), secretCiphertext);
  if (token === null)
    throw unavailable('import_token_closed', 'The token cannot be decrypted with this server’s key. Set it again.');
  return token;
}

/** After a rotation of the instance key. @returns number of re-encrypted tokens */
export function reencryptTokens({ db, key, random }: ImportDeps): Promise<number> {
  return db.write(async ({ manager }) => {
    let changed = 0;
    for (const schema of [importSchema, importGroupSchema] as const)
      for (const { id, host, secretCiphertext: text } of await manager.find<ImportRow | ImportGroupRow>(schema)) {
        if (text === null) continue;
        const renewed = reencrypt(key, random, { use: 'secrets', place: placeOf(id, host), text });
        if (renewed === null) continue;
        await manager.update(schema, { id }, { secretCiphertext: renewed });
        changed += 1;
      }
    return changed;
  });
}

interface OpenedSource {
  source: Source;
  client: SourceClient;
}

/** A client whose requests obey the limit of its host. */
export function connectClient(
  deps: ImportDeps,
  { kind, api }: Pick<SourceAddress, 'kind' | 'api'>,
  token: string,
  { signal, count = () => {}, hasWaited }: { signal: AbortSignal; count?: () => void; hasWaited?: () => boolean },
): SourceClient {
  return new SourceClient(deps, {
    api,
    headers: authorization(kind, token),
    signal,
    count,
    ...(hasWaited && { hasWaited }),
    async blockedUntil() {
      const { host } = new URL(api);
      return Number((await deps.db.read.findOneBy(importHostSchema, { host }))?.blockedUntil ?? 0);
    },
  });
}

/** A source with its client; its requests obey the limit of its host. */
export function connectSource(
  deps: ImportDeps,
  address: SourceAddress,
  token: string,
  {
    signal,
    tell,
    numbers,
    ...more
  }: {
    signal: AbortSignal;
    tell: TellProblem;
    count?: () => void;
    hasWaited?: () => boolean;
    numbers?: SourceNumbers;
  },
): OpenedSource {
  const client = connectClient(deps, address, token, { signal, ...more });
  return { client, source: openSource(client, address, tell, numbers) };
}

/** A run, and the clock of the other server; null without one. */
interface OpenedRun {
  context: RunContext;
  serverTime(): number | null;
}

/** The run of a row. Throws `import_token_closed`, `import_needs_files`. */
export async function openRun(
  deps: ImportDeps,
  row: ImportRow,
  located: Located,
  signal: AbortSignal,
): Promise<OpenedRun> {
  let context: RunContext | null = null;
  const tell: TellProblem = (item, problem) => context?.tell(item, problem);
  const numbers = createApartNumbers(deps, { importId: row.id, repositoryId: row.repositoryId, host: row.host });
  if (row.files !== null) {
    await requireFiles(deps, row.id);
    const opened = await openFiles(deps, row, { located, signal, tell, numbers });
    context = new RunContext(deps, row, { located, signal, ...opened });
    return { context, serverTime: () => null };
  }
  const token = decryptToken(deps, row);
  const { kind, api, project, url, host } = row;
  const { source, client } = connectSource(deps, { kind, api, project, url, host }, token, {
    signal,
    tell,
    numbers,
    count: () => {
      if (context !== null) context.requests += 1;
    },
    hasWaited: () => context?.hasWaited ?? false,
  });
  const credentials = { username: token === '' ? '' : source.username, secret: token };
  const origin = { url: `${url}.git`, ...credentials };
  /** git follows no redirect, which is what the old address of a renamed repository answers. */
  const pageNow = (): string => {
    const now = context?.progress.described?.project;
    if (now === undefined || now.toLowerCase() === project.toLowerCase()) return url;
    return [...url.split('/').slice(0, -project.split('/').length), ...now.split('/').map(encodeURIComponent)].join(
      '/',
    );
  };
  const { bring } = deps.mirrors;
  context = new RunContext(deps, row, {
    ...{ located, source, signal },
    transfer: {
      refs: (options) => bring.refs(located, { ...credentials, url: `${pageNow()}.git` }, { ...options, signal }),
      lfs: () => bring.lfs(located, { ...credentials, url: `${pageNow()}.git` }, signal),
      wiki: (options) => bring.wiki(located, { ...credentials, url: `${pageNow()}.wiki.git` }, { ...options, signal }),
      releases: (tellName) => bring.releases(located, origin, signal, tellName),
    },
    files: {
      open: (key, name) => client.openFile(addressesOf(row, key, name)),
      openPicture: (addresses) => client.openFile(addresses),
    },
  });
  return { context, serverTime: () => client.serverTime };
}
