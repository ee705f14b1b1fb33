import { containsIndexed } from '../../db/index.ts';
import type { DatabaseThread, Dialect } from '../../db/index.ts';
import type { TextHit, TextQuery } from '../../issues/index.ts';
import { foldQuery, trigramQuery } from '../fold-text.ts';
import { repositoryTrigram } from './update-index.ts';

/**
 * Number of texts up to which a word counts as rare: that many are read, compared and sorted within some milliseconds.
 * A more frequent word is in so many issues that reading the list in its order soon fills a page.
 */
const rareWordMaxDocuments = 2_000;
/** A text has many more trigrams than a name, so more of them are queried. */
const maxTrigrams = 12;

/**
 * The issues that contain all words, each in any of its texts, in list order; none is omitted. The trigram index
 * proposes texts for the rarest word, `instr` on the folded text decides. For a frequent word, and for words of one or
 * two characters, which have no trigram, the list is read in its order and each text is compared.
 * @param mostTexts number of texts up to which a word counts as rare
 */
export async function findIssues(
  thread: Pick<DatabaseThread, 'run'>,
  dialect: Dialect,
  { words, repositoryId, isNarrow, page, parameters: given }: TextQuery,
  mostTexts = rareWordMaxDocuments,
): Promise<TextHit[]> {
  const folded = [...new Set(words.map(foldQuery))].filter((word) => word !== '');
  const named = folded.map((word, at) => [`word${at}`, word] as const);
  const parameters = { ...given, ...Object.fromEntries(named) };
  const runQuery = async <Row>(sql: string, more: Record<string, unknown> = {}): Promise<Row[]> => {
    const [rows] = await thread.run([{ sql, parameters: used(sql, { ...parameters, ...more }) }]);
    return rows as Row[];
  };
  if (named.length === 0)
    return words.length === 0
      ? (await runQuery<{ id: string }>(page({}))).map(({ id }) => ({ id, position: null }))
      : [];
  const proposing = dialect === 'sqlite' ? proposedBySqlite : proposedByPostgres(repositoryId !== null);
  const rarest = isNarrow ? null : await rarestWord(runQuery, proposing, named, repositoryId, mostTexts);
  if (rarest !== null) {
    const others = named.filter(([name]) => name !== rarest.name).map(([name]) => hasWord('i.id', name));
    const rows = await runQuery<{ total: number; hits: string | null }>(
      `WITH matches (id) AS MATERIALIZED (
        SELECT s.issue_id FROM ${proposing('', rarest.name)}
          AND ${containsIndexed('s.folded', `:${rarest.name}`)} LIMIT ${mostTexts + 1})
      SELECT (SELECT count(*) FROM matches) AS total,
        (SELECT json_group_array(json_object('id', id, 'position', position)) FROM (${positioned(
          page({
            ids: `SELECT id FROM matches WHERE (SELECT count(*) FROM matches) <= ${mostTexts}`,
            ...(others.length > 0 && { and: others.join(' AND ') }),
          }),
        )}) f) AS hits`,
      { trigrams: rarest.trigrams, repositoryId },
    );
    const [{ total, hits }] = rows as [{ total: number; hits: string | null }];
    if (total <= mostTexts) return JSON.parse(hits ?? '[]') as TextHit[];
  }
  const and = named.map(([name]) => hasWord('i.id', name)).join(' AND ');
  return runQuery<TextHit>(positioned(page({ and })));
}

/** Texts that may contain a word, as tables and a condition. @param at index of the word */
type Proposing = (at: string, name: string) => string;

const proposedBySqlite: Proposing = (at) =>
  `search_entry_trigrams g CROSS JOIN search_entries s ON s.place = g.rowid
        WHERE g.search_entry_trigrams MATCH :trigrams${at}`;

/** The index stores the text itself; the repository is that of the issue. */
const proposedByPostgres =
  (isInRepository: boolean): Proposing =>
  (_at, name) =>
    `search_entries s WHERE ${containsIndexed('s.folded', `:${name}`)}${
      isInRepository
        ? ' AND EXISTS (SELECT 1 FROM issues x WHERE x.id = s.issue_id AND x.repository_id = :repositoryId)'
        : ''
    }`;

type RunQuery = <Row>(sql: string, more?: Record<string, unknown>) => Promise<Row[]>;

const hasWord = (id: string, name: string): string =>
  `EXISTS (SELECT 1 FROM search_entries s WHERE s.issue_id = ${id} AND ${containsIndexed('s.folded', `:${name}`)})`;

/** The rows of a page, each with the first of its entries that contains the first word. */
const positioned = (page: string): string => `
  SELECT f.id AS id, (SELECT min(s.position) FROM search_entries s
    WHERE s.issue_id = f.id AND ${containsIndexed('s.folded', ':word0')}) AS position
  FROM (${page}) f`;

/** The word whose trigrams occur in the fewest texts; null if none has trigrams. */
async function rarestWord(
  runQuery: RunQuery,
  proposing: Proposing,
  named: readonly (readonly [name: string, word: string])[],
  repositoryId: string | null,
  mostTexts: number,
): Promise<{ name: string; trigrams: string } | null> {
  const within = repositoryId === null ? '' : `"${repositoryTrigram(repositoryId)}" AND `;
  const indexed = named.flatMap(([name, word]) => {
    const trigrams = trigramQuery(word, maxTrigrams);
    return trigrams === null ? [] : [{ name, trigrams: within + trigrams }];
  });
  if (indexed.length < 2) return indexed[0] ?? null;
  const counted = indexed.map(
    ({ name }, at) =>
      `(SELECT count(*) FROM (SELECT 1 FROM ${proposing(String(at), name)} LIMIT ${mostTexts + 1}) f) AS count${at}`,
  );
  const trigrams = Object.fromEntries(indexed.map((each, at) => [`trigrams${at}`, each.trigrams]));
  const [counts] = await runQuery<Record<string, number>>(`SELECT ${counted.join(', ')}`, {
    ...trigrams,
    repositoryId,
  });
  const numbers = indexed.map((_, at) => Number(counts![`count${at}`]));
  return indexed[numbers.indexOf(Math.min(...numbers))]!;
}

/** SQLite refuses parameters that a statement does not name. */
function used(sql: string, parameters: Record<string, unknown>): Record<string, unknown> {
  const names = new Set([...sql.matchAll(/:(\w+)/g)].map(([, name]) => name!));
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => names.has(name)));
}
