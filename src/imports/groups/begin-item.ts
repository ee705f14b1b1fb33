import type { PersonViewer } from '../../access/index.ts';
import { isDomainError, isRefusal } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import type { ImportDeps } from '../deps.ts';
import { parseSourceAddress, serverOf } from '../connect/open-source.ts';
import { insertImport } from '../manage-imports.ts';
import { groupItemSchema, groupOwnerSchema } from '../schema/group-schema.ts';
import type { GroupItemRow, ImportGroupRow } from '../schema/group-schema.ts';

/**
 * Creates the private and empty repository of an item, with its import. A name that is taken or invalid here is
 * replaced by another one. An error is stored with the item; the others continue.
 */
export async function beginItem(
  deps: ImportDeps,
  group: ImportGroupRow,
  project: string,
  { token, viewer }: { token: string; viewer: PersonViewer },
): Promise<void> {
  const at = { groupId: group.id, project };
  const item = await deps.db.read.findOneBy(groupItemSchema, at);
  const owner = item && (await deps.db.read.findOneBy(groupOwnerSchema, { groupId: group.id, login: item.login }));
  if (item === null || owner?.ownerId == null) return;
  try {
    const named = (await deps.owners.ownersById([owner.ownerId])).get(owner.ownerId);
    if (named === undefined) return await refuse(deps, item, 'Its owner here is gone.');
    const isLeftBehind = item.begunAt !== null;
    if (!isLeftBehind) await deps.db.write(({ manager, now }) => manager.update(groupItemSchema, at, { begunAt: now }));
    const id =
      (isLeftBehind ? await findLeftBehind(deps, item, named) : null) ??
      (await create(deps, viewer, named.handle, namesFor(item)));
    const address = parseSourceAddress(`${serverOf(group)}/${project}`, group.kind);
    await deps.db.write(async (tx) => {
      await insertImport(deps, tx, id, { address, token, options: group.options, watchMs: group.watchMs, viewer });
      await tx.manager.update(groupItemSchema, at, { repositoryId: id });
    });
  } catch (error) {
    if (!isRefusal(error) || error.code === 'unavailable') throw error;
    await refuse(deps, item, error.message);
  }
}

const refuse = async ({ db }: ImportDeps, { groupId, project }: GroupItemRow, problem: string): Promise<void> =>
  void (await db.write(({ manager }) =>
    manager.update(groupItemSchema, { groupId, project }, { problem: problem.slice(0, 500) }),
  ));

/** Its own name, prefixed with its groups if several share the name, without characters that are invalid here. */
function namesFor({ project, name }: GroupItemRow): string[] {
  const clean = (text: string): string =>
    text
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[-.]+|[-.]+$/g, '')
      .slice(0, 90);
  const below = project.split('/').slice(1).join('-');
  const candidates = [name, clean(name), clean(below), ...[2, 3, 4].map((count) => `${clean(below)}-${count}`)];
  return [...new Set(candidates)].filter((text) => text !== '');
}

async function create(
  deps: ImportDeps,
  viewer: PersonViewer,
  owner: string,
  names: readonly string[],
): Promise<string> {
  let refusal: unknown;
  for (const name of names)
    try {
      return (await deps.repositories.create(viewer, { owner, name, visibility: 'PRIVATE' })).id;
    } catch (error) {
      if (!isDomainError(error) || !['repository_name_taken', 'invalid_repository_name'].includes(error.reason))
        throw error;
      refusal ??= error;
    }
  throw refusal;
}

/** The repository left by a stop between creating it and its import: empty, without an import, and created recently. */
async function findLeftBehind({ db }: ImportDeps, item: GroupItemRow, owner: Owner): Promise<string | null> {
  const column = owner.kind === 'user' ? 'owner_user_id' : 'owner_org_id';
  for (const name of namesFor(item)) {
    const rows: { id: string }[] = await db.read.query(
      `SELECT r.id AS id FROM repositories r
       WHERE r.${column} = ? AND r.name_folded = ? AND r.deleted_at IS NULL AND r.created_at >= ?
         AND r.pushed_at IS NULL AND NOT EXISTS (SELECT 1 FROM imports i WHERE i.repository_id = r.id)`,
      [owner.id, name.toLowerCase(), item.begunAt],
    );
    if (rows[0] !== undefined) return rows[0].id;
  }
  return null;
}
