import { IsNull } from 'typeorm';
import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { inList } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, invalid, notFound, unauthenticated } from '../../kernel/index.ts';
import { placeholderName } from '../context/people-book.ts';
import type { ImportDeps } from '../deps.ts';
import { importPersonSchema, importSchema } from '../schema/import-schema.ts';
import type { ImportPersonRow } from '../schema/import-schema.ts';
import { moveReleases } from './release-authors.ts';

/** An author from another forge, by the name in texts: `alice@git.example.org`. */
export interface ImportedAuthor extends ImportPersonRow {
  person: string;
}

const issuesPerWrite = 200;
const mostListed = 10_000;

const withName = (row: ImportPersonRow): ImportedAuthor => ({ ...row, person: placeholderName(row.login, row.host) });

/** The authors from one host or from all, by host and login. For administrators and the command line. */
export async function listPeople({ db }: ImportDeps, host?: string): Promise<ImportedAuthor[]> {
  const rows = await db.read.find(importPersonSchema, {
    ...(host === undefined ? {} : { where: { host } }),
    order: { host: 'ASC', login: 'ASC' },
    take: mostListed,
  });
  return rows.map(withName);
}

/** Authors from other forges whose e-mail address a user has verified here. */
async function claimablePeople({ db }: ImportDeps, addresses: readonly string[]): Promise<ImportedAuthor[]> {
  if (addresses.length === 0) return [];
  const rows = await db.read
    .createQueryBuilder(importPersonSchema, 'p')
    .where(inList('p.email', { parameter: ':addresses' }), {
      addresses: JSON.stringify(addresses.map((address) => address.toLowerCase())),
    })
    .andWhere("p.email <> ''")
    .limit(mostListed)
    .getMany();
  return rows.map(withName).sort((one, other) => (one.person < other.person ? -1 : 1));
}

async function findPerson({ db }: ImportDeps, person: string): Promise<ImportPersonRow> {
  const [, login, host] = /^(.+)@([^@]+)$/.exec(person.trim()) ?? [];
  const row = host === undefined ? null : await db.read.findOneBy(importPersonSchema, { host, login: login! });
  if (row === null) throw notFound('import_person_not_found', `No imported author is named ${person}.`);
  return row;
}

const isClaimed = (person: string) =>
  conflict('import_person_claimed', `${person} is already linked to another account. Remove that link first.`);

/**
 * Assigns all texts of an author from another forge to an account, here and in later runs. The caller must have proof:
 * an administrator's mapping, or the verified e-mail address of the source. Sends no notifications. Throws
 * `import_person_not_found`, `import_person_claimed` if another account has claimed the author.
 */
export async function claimPerson(deps: ImportDeps, viewer: Viewer, person: string, userId: string): Promise<void> {
  const { host, login, userId: before } = await findClaimable(deps, person, userId);
  // Must come first: a concurrent run then already writes with the account.
  const { affected } = await deps.db.write(({ manager, now }) =>
    manager.update(
      importPersonSchema,
      { host, login, userId: before ?? IsNull() },
      { userId, claimedBy: viewerForLog(viewer), claimedAt: now },
    ),
  );
  if (affected === 0) throw isClaimed(person);
  await eachIssues(deps, host, (tx, ids) => move(tx, ids, { name: placeholderName(login, host), userId }));
  await moveReleases(deps, { host, login }, { from: null, to: userId });
  deps.logger.info('import.person_claimed', { person, userId, by: viewerForLog(viewer) });
}

async function findClaimable(deps: ImportDeps, person: string, userId: string): Promise<ImportPersonRow> {
  const row = await findPerson(deps, person);
  if (row.userId !== null && row.userId !== userId) throw isClaimed(person);
  return row;
}

/** Several claims, as `claimPerson`: one that is refused changes nothing, unless another one is made meanwhile. */
export async function claimPeople(
  deps: ImportDeps,
  viewer: Viewer,
  claims: readonly { person: string; userId: string }[],
): Promise<void> {
  const accounts = new Map<string, string>();
  for (const { person, userId } of claims) {
    const { host, login } = await findClaimable(deps, person, userId);
    const author = placeholderName(login, host);
    if ((accounts.get(author) ?? userId) !== userId) throw isClaimed(person);
    accounts.set(author, userId);
  }
  for (const { person, userId } of claims) await claimPerson(deps, viewer, person, userId);
}

/**
 * Reverts a claim: the texts show the author's name again. Throws `import_person_not_found`, `import_person_unclaimed`.
 */
export async function unclaimPerson(deps: ImportDeps, viewer: Viewer, person: string): Promise<void> {
  const { host, login, userId } = await findPerson(deps, person);
  if (userId === null) throw conflict('import_person_unclaimed', `${person} is not linked to an account.`);
  await deps.db.write(({ manager }) =>
    manager.update(importPersonSchema, { host, login }, { userId: null, claimedBy: null, claimedAt: null }),
  );
  await eachIssues(deps, host, (tx, ids) => moveBack(tx, ids, { name: placeholderName(login, host), userId }));
  await moveReleases(deps, { host, login }, { from: userId, to: null });
  deps.logger.info('import.person_unclaimed', { person, userId, by: viewerForLog(viewer) });
}

/**
 * Claims by the e-mail address that the source vouches for and the user has verified here. Throws
 * `import_person_not_found`, also for authors with other addresses, and what `claimPerson` refuses.
 */
export async function claimOwn(deps: ImportDeps, viewer: Viewer, people: readonly string[]): Promise<ImportedAuthor[]> {
  if (viewer.kind !== 'person') throw unauthenticated('sign_in_required', 'Sign in to claim your contributions.');
  const own = await claimablePeople(deps, await verifiedAddresses(deps, viewer.id));
  for (const person of people)
    if (!own.some((each) => each.person === person.trim()))
      throw notFound('import_person_not_found', `No imported author ${person} has an address of yours.`);
  await claimPeople(
    deps,
    viewer,
    people.map((person) => ({ person, userId: viewer.id })),
  );
  return claimablePeople(deps, await verifiedAddresses(deps, viewer.id));
}

/** The authors that a user may claim. */
export async function claimableFor(deps: ImportDeps, userId: string): Promise<ImportedAuthor[]> {
  return claimablePeople(deps, await verifiedAddresses(deps, userId));
}

async function verifiedAddresses({ accounts }: ImportDeps, userId: string): Promise<string[]> {
  const all = await accounts.addresses.list(userId);
  return all.filter(({ verifiedAt }) => verifiedAt !== null).map(({ address }) => address);
}

/** Calls back for the issues of all repositories imported from a host, some hundred per write. */
async function eachIssues(
  { db }: ImportDeps,
  host: string,
  work: (tx: Tx, ids: string) => Promise<void>,
): Promise<void> {
  for (const { repositoryId } of await db.read.findBy(importSchema, { host }))
    for (let after = 0; ; ) {
      const rows: { id: string; number: number }[] = await db.read.query(
        'SELECT id, number FROM issues WHERE repository_id = ? AND number > ? ORDER BY number LIMIT ?',
        [repositoryId, after, issuesPerWrite],
      );
      if (rows.length > 0) await db.write((tx) => work(tx, JSON.stringify(rows.map(({ id }) => id))));
      if (rows.length < issuesPerWrite) break;
      after = Number(rows.at(-1)!.number);
    }
}

/** Columns with the id and name of an author, and the condition that selects their rows for some issues. */
const authorships: readonly [table: string, id: string, name: string, of: string][] = [
  ['issues', 'author_id', 'author_name', inList('id')],
  ['issue_entries', 'author_id', 'author_name', inList('issue_id')],
  ['pulls', 'submitter_id', 'submitter_name', inList('issue_id')],
  ['pulls', 'merged_by', 'merged_by_name', inList('issue_id')],
  ['pull_rounds', 'submitter_id', 'submitter_name', inList('issue_id')],
  ['reviews', 'author_id', 'author_name', inList('issue_id')],
  ['reviews', 'dismissed_by', 'dismissed_by_name', inList('issue_id')],
  ['tracked_times', 'user_id', 'user_name', inList('issue_id')],
  ['review_threads', 'resolved_by', 'resolved_by_name', inList('issue_id')],
  [
    'review_comments',
    'author_id',
    'author_name',
    `thread_id IN (SELECT id FROM review_threads WHERE ${inList('issue_id')})`,
  ],
];

interface Claim {
  name: string;
  userId: string;
}

async function move({ manager }: Tx, ids: string, { name, userId }: Claim): Promise<void> {
  for (const [table, id, column, of] of authorships)
    await manager.query(`UPDATE ${table} SET ${id} = ? WHERE ${id} IS NULL AND ${column} = ? AND ${of}`, [
      userId,
      name,
      ids,
    ]);
  // Before the account has it: its own reaction stays when the claim is reverted.
  await manager.query(
    `UPDATE imported_reactions SET user_id = ?, is_own = CASE WHEN EXISTS (
       SELECT 1 FROM reactions r WHERE r.issue_id = imported_reactions.issue_id
       AND r.position = imported_reactions.position AND r.kind = imported_reactions.kind AND r.user_id = ?)
     AND NOT EXISTS (
       SELECT 1 FROM imported_reactions o WHERE o.issue_id = imported_reactions.issue_id
       AND o.position = imported_reactions.position AND o.kind = imported_reactions.kind AND o.user_id = ?
       AND o.is_own = 0) THEN 1 ELSE 0 END
     WHERE person = ? AND user_id IS NULL AND ${inList('issue_id')}`,
    [userId, userId, userId, name, ids],
  );
  await manager.query(
    `INSERT INTO reactions (issue_id, position, kind, user_id)
     SELECT issue_id, position, kind, ? FROM imported_reactions WHERE person = ? AND ${inList('issue_id')}
     ON CONFLICT DO NOTHING`,
    [userId, name, ids],
  );
}

/** Keeps a reaction that the account has given itself or has through another claim. */
async function moveBack({ manager }: Tx, ids: string, { name, userId }: Claim): Promise<void> {
  for (const [table, id, column, of] of authorships)
    await manager.query(`UPDATE ${table} SET ${id} = NULL WHERE ${id} = ? AND ${column} = ? AND ${of}`, [
      userId,
      name,
      ids,
    ]);
  await manager.query(
    `DELETE FROM reactions WHERE user_id = ? AND ${inList('issue_id')} AND EXISTS (
       SELECT 1 FROM imported_reactions i WHERE i.issue_id = reactions.issue_id AND i.position = reactions.position
       AND i.kind = reactions.kind AND i.person = ? AND i.user_id = reactions.user_id AND i.is_own = 0)
     AND NOT EXISTS (
       SELECT 1 FROM imported_reactions o WHERE o.issue_id = reactions.issue_id AND o.position = reactions.position
       AND o.kind = reactions.kind AND o.person <> ? AND o.user_id = reactions.user_id)`,
    [userId, ids, name, name],
  );
  await manager.query(
    `UPDATE imported_reactions SET user_id = NULL, is_own = 0 WHERE person = ? AND ${inList('issue_id')}`,
    [name, ids],
  );
}

/** A line of a mapping: an author from another forge, and the username here. */
interface MappedPerson {
  person: string;
  username: string;
}

const maxLines = 10_000;

/**
 * Parses a mapping: lines of `alice@git.example.org = alice`; `#` begins a comment. Throws `invalid_mapping` with the
 * line.
 */
export function parseMapping(text: string): MappedPerson[] {
  const lines = text.split(/\r?\n/);
  if (lines.length > maxLines) throw invalid('invalid_mapping', `A mapping can have at most ${maxLines} lines.`);
  return lines.flatMap((line, at) => {
    const plain = line.replace(/#.*$/, '').trim();
    if (plain === '') return [];
    const [, person, username] = /^(\S+@[^\s@=]+)\s*[=,]\s*([A-Za-z0-9._-]+)$/.exec(plain) ?? [];
    if (person === undefined || username === undefined)
      throw invalid('invalid_mapping', `Line ${at + 1} does not have the form alice@git.example.org = alice.`);
    return [{ person, username }];
  });
}
