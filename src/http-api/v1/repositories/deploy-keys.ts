import { z } from 'zod';
import { numericId } from '../../../gitea-shapes/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { PersonViewer } from '../../../access/index.ts';
import type { Found, ListedDeployKey } from '../../../repositories/index.ts';
import { created, json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';

const at = '/repos/{owner}/{name}/keys';
const common = { tag: 'Deploy keys', access: 'repository:admin', cost: 'rows' } as const;
const time = z.iso.datetime().describe('ISO 8601, UTC');

/** Gitea's shape, with our own `added_by` and `last_used_at`. */
const deployKey = z
  .strictObject({
    id: z.int().describe('Derived from the key’s UUID'),
    key_id: z.int().describe('Alias of key_id'),
    key: z.string().describe('Public key as a line without a comment'),
    fingerprint: z.string().describe('SHA256:…, in OpenSSH’s format'),
    title: z.string(),
    read_only: z.boolean(),
    added_by: z.string().nullable().describe('Null if added on the command line or if the account has been deleted'),
    url: z.string(),
    created_at: time,
    last_used_at: time.nullable().describe('Accurate to within one minute'),
  })
  .meta({ id: 'DeployKey' });

interface Call {
  viewer: PersonViewer;
  found: Found;
  deps: WebDeps;
}

const show = (
  key: ListedDeployKey,
  { found: { canonical }, deps }: Pick<Call, 'found' | 'deps'>,
): z.output<typeof deployKey> => ({
  id: numericId(key.id),
  key_id: numericId(key.id),
  key: key.line,
  fingerprint: key.fingerprint,
  title: key.title,
  read_only: key.access === 'read',
  added_by: key.person?.username ?? null,
  url: `${deps.config.baseUrl ?? ''}/api/v1/repos/${canonical.owner}/${canonical.name}/keys/${numericId(key.id)}`,
  created_at: isoTime(key.createdAt),
  last_used_at: isoTimeOrNull(key.lastUsedAt),
});

const keysOf = ({ viewer, found: { canonical }, deps }: Call): Promise<ListedDeployKey[]> =>
  deps.repositories.deployKeys.list(viewer, canonical.owner, canonical.name);

/** Throws `unknown_deploy_key`. */
async function keyOf(call: Call, matches: (key: ListedDeployKey) => boolean): Promise<ListedDeployKey> {
  const key = (await keysOf(call)).find(matches);
  if (key === undefined) throw notFound('unknown_deploy_key', 'There is no such deploy key.');
  return key;
}

const byNumber = (id: string) => (key: ListedDeployKey) => String(numericId(key.id)) === id;

const listDeployKeys = operation({
  ...common,
  id: 'listDeployKeys',
  method: 'GET',
  path: at,
  summary: 'List deploy keys, oldest first',
  status: 200,
  query: z.object({
    key_id: z.string().optional().describe('Only the key with this id'),
    fingerprint: z.string().optional().describe('Only the key with this fingerprint'),
  }),
  response: z.array(deployKey),
  async run(call) {
    const { key_id: id, fingerprint } = call.query;
    const keys = (await keysOf(call)).filter(
      (key) =>
        (id === undefined || byNumber(id)(key)) && (fingerprint === undefined || key.fingerprint === fingerprint),
    );
    return json(keys.map((key) => show(key, call)));
  },
});

const getDeployKey = operation({
  ...common,
  id: 'getDeployKey',
  method: 'GET',
  path: `${at}/{id}`,
  summary: 'Get a deploy key',
  status: 200,
  refuses: [404],
  response: deployKey,
  run: async (call) => json(show(await keyOf(call, byNumber(call.params.id)), call)),
});

const addDeployKey = operation({
  ...common,
  id: 'addDeployKey',
  method: 'POST',
  path: at,
  summary: 'Add a deploy key',
  description: 'A key that belongs to a user or to another repository is rejected.',
  status: 201,
  refuses: [409],
  refusesUnknownKeys: true,
  body: z.strictObject({
    title: z.string().optional().describe('Defaults to the key’s comment'),
    key: z.string().describe('Complete line of a .pub file'),
    read_only: z.boolean().optional().describe('Defaults to true'),
  }),
  response: deployKey,
  async run(call) {
    const { title, key: line, read_only: isReadOnly = true } = call.body;
    const { owner, name } = call.found.canonical;
    const input = { title, line, access: isReadOnly ? 'read' : 'write' };
    const { id } = await call.deps.repositories.deployKeys.add(call.viewer, owner, name, input);
    const key = await keyOf(call, (each) => each.id === id);
    return created(show(key, call), `/repos/${owner}/${name}/keys/${numericId(id)}`);
  },
});

const removeDeployKey = operation({
  ...common,
  id: 'removeDeployKey',
  method: 'DELETE',
  path: `${at}/{id}`,
  summary: 'Remove a deploy key',
  status: 204,
  refuses: [404],
  async run(call) {
    const { id } = await keyOf(call, byNumber(call.params.id));
    const { owner, name } = call.found.canonical;
    await call.deps.repositories.deployKeys.remove(call.viewer, owner, name, id);
    return noContent();
  },
});

/** SSH keys of one repository. */
export const deployKeyOperations = [listDeployKeys, getDeployKey, addDeployKey, removeDeployKey] as const;
