import { visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { idsIn, prefixRange, selectRaw } from '../../db/index.ts';
import { bindDeps, invalid } from '../../kernel/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findAgain, findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { eachRow } from '../list-repositories.ts';
import { topicSchema } from '../schema/topic-schema.ts';

/** Maximum number of topics per repository. */
const maxTopics = 25;
const pattern = /^[a-z0-9][a-z0-9.-]{0,34}$/;

/** Normalises a topic to lower case. Throws `invalid_topic`. */
function parseTopic(text: string): string {
  const topic = text.trim().toLowerCase();
  if (!pattern.test(topic))
    throw invalid(
      'invalid_topic',
      'A topic must start with a letter or digit, can contain letters, digits, dots and hyphens, and can have at most 35 characters.',
      { field: 'topics' },
    );
  return topic;
}

const tooMany = () =>
  invalid('too_many_topics', `A repository can have at most ${maxTopics} topics.`, { field: 'topics' });

/** Topics of repositories, sorted; omits repositories without any. The caller checks read access. */
async function topicsOf({ db }: RepositoryDeps, ids: Iterable<string>): Promise<Map<string, string[]>> {
  const [among, parameters] = idsIn('t.repository_id', ids);
  const rows = await selectRaw<{ id: string; topic: string }>(
    db.read,
    `SELECT t.repository_id AS id, t.topic AS topic FROM repository_topics t WHERE ${among}
     ORDER BY t.repository_id, t.topic`,
    parameters,
  );
  const found = new Map<string, string[]>();
  for (const { id, topic } of rows) found.set(id, [...(found.get(id) ?? []), topic]);
  return found;
}

/**
 * Replaces all topics of a repository. Throws `repository_not_found` unless the viewer administers the repository;
 * `invalid_topic`, `too_many_topics`.
 */
async function setTopics(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  texts: readonly string[],
): Promise<void> {
  const { id: repositoryId } = (await findRepository(deps, viewer, at, 'admin')).repository;
  const topics = new Set(texts.map(parseTopic));
  if (topics.size > maxTopics) throw tooMany();
  await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repositoryId, 'admin');
    await tx.manager.delete(topicSchema, { repositoryId });
    for (const topic of topics) await tx.manager.insert(topicSchema, { repositoryId, topic, createdAt: tx.now });
  });
}

/** Adds a topic; an existing one is not an error. Throws what `setTopics` throws. */
async function addTopic(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress, text: string): Promise<void> {
  const { id: repositoryId } = (await findRepository(deps, viewer, at, 'admin')).repository;
  const topic = parseTopic(text);
  await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repositoryId, 'admin');
    if (await tx.manager.existsBy(topicSchema, { repositoryId, topic })) return;
    if ((await tx.manager.countBy(topicSchema, { repositoryId })) >= maxTopics) throw tooMany();
    await tx.manager.insert(topicSchema, { repositoryId, topic, createdAt: tx.now });
  });
}

/** Removes a topic; a missing one is not an error. Throws what `setTopics` throws. */
async function removeTopic(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress, text: string): Promise<void> {
  const { id: repositoryId } = (await findRepository(deps, viewer, at, 'admin')).repository;
  const topic = parseTopic(text);
  await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repositoryId, 'admin');
    await tx.manager.delete(topicSchema, { repositoryId, topic });
  });
}

/** A topic of repositories that the viewer can see, and their number. */
interface CountedTopic {
  topic: string;
  repositories: number;
}

/** Limit of index rows to search for a prefix. */
const mostLooked = 2_000;

/** Topics with a prefix, of repositories that the viewer can see, most used first. */
async function searchTopics(
  { db }: RepositoryDeps,
  viewer: Viewer,
  text: string,
  limit: number,
): Promise<CountedTopic[]> {
  const visible = visibleRepositories(viewer, 'r');
  const [from, upTo] = text === '' ? ['', '\u{10ffff}'] : prefixRange(text.toLowerCase());
  const rows = await selectRaw<{ topic: string }>(
    db.read,
    `SELECT t.topic AS topic FROM repository_topics t CROSS JOIN repositories r
     WHERE t.topic >= :from AND t.topic < :upTo AND r.id = t.repository_id AND ${eachRow(visible.sql)}
     ORDER BY t.topic, t.repository_id LIMIT :mostLooked`,
    { ...visible.parameters, from, upTo, mostLooked },
  );
  const counts = new Map<string, number>();
  for (const { topic } of rows) counts.set(topic, (counts.get(topic) ?? 0) + 1);
  return [...counts]
    .map(([topic, repositories]) => ({ topic, repositories }))
    .sort((one, other) => other.repositories - one.repositories || (one.topic < other.topic ? -1 : 1))
    .slice(0, limit);
}

/** Ids of at most `limit` repositories with a topic, including hidden ones: the caller applies the policy. */
async function idsWith({ db }: RepositoryDeps, text: string, limit: number): Promise<string[]> {
  const rows: { id: string }[] = await db.read.query(
    'SELECT repository_id AS id FROM repository_topics WHERE topic = ? ORDER BY repository_id LIMIT ?',
    [text.trim().toLowerCase(), limit],
  );
  return rows.map(({ id }) => id);
}

/** Topics of repositories. */
export function createTopicService(deps: RepositoryDeps) {
  const bind = bindDeps(deps);
  const bindAt = bindRepositoryDeps(deps);
  return {
    of: bind(topicsOf),
    set: bindAt(setTopics),
    add: bindAt(addTopic),
    remove: bindAt(removeTopic),
    search: bind(searchTopics),
    idsWith: bind(idsWith),
  };
}
