import { isDomainError } from '../../../kernel/index.ts';
import type { SourceClient } from '../../client/source-client.ts';
import { flagOf, listOf, numberOf, objectOf, textOf } from '../read-json.ts';
import type { Json } from '../read-json.ts';
import type { SourcePerson, TellProblem } from '../source.ts';
import { readPerson } from './github-shapes.ts';

/** GitHub allows three. */
const mostPins = 'first: 10';
const pinned = `query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
  pinnedIssues(${mostPins}) { nodes { issue { number } } } } }`;
const threads = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { reviewThreads(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes { isResolved resolvedBy { login url } comments(first: 1) { nodes { id } } } } } } }`;
const maxPages = 100;

const nameOnly = (person: SourcePerson | null): SourcePerson | null => person && { ...person, isNameOnly: true };

/** What only GitHub's GraphQL API shows. It requires a token; without it, or if it refuses, the report has a line. */
export function createGithubGraph(
  client: SourceClient,
  { api, owner, name }: { api: string; owner: string; name: string },
  tell: TellProblem,
) {
  const address = /\/api\/v3$/.test(api) ? api.replace(/v3$/, 'graphql') : `${api}/graphql`;
  let isOff = false;
  let pins: Promise<ReadonlySet<number>> | null = null;

  function turnOff(why: string): null {
    if (!isOff) tell('pins and threads', `pins and the resolution of threads did not come: ${why}`);
    isOff = true;
    return null;
  }

  /** Null if it cannot be used; throws for what passes. */
  async function ask(query: string, variables: Json): Promise<Json | null> {
    if (isOff) return null;
    if (!client.hasToken) return turnOff('they need a token');
    try {
      const data = await client.query(address, { query, variables: { owner, name, ...variables } });
      const repository = objectOf(data)['repository'];
      return repository == null ? turnOff('the token may not use its GraphQL API') : objectOf(repository);
    } catch (error) {
      if (!isDomainError(error) || error.reason !== 'source_refused') throw error;
      return turnOff(error.message);
    }
  }

  return {
    /** Numbers of the pinned issues, asked once. */
    pinned(): Promise<ReadonlySet<number>> {
      pins ??= (async () => {
        const { nodes } = objectOf((await ask(pinned, {}))?.['pinnedIssues']);
        return new Set(listOf(nodes).flatMap((row) => numberOf(objectOf(row['issue'])['number']) ?? []));
      })();
      return pins;
    },
    /** Who has resolved the threads of a pull request, by the node id of their first comment. */
    async resolved(number: number): Promise<Map<string, SourcePerson | null>> {
      const found = new Map<string, SourcePerson | null>();
      let after: string | null = null;
      for (let page = 0; page < maxPages; page += 1) {
        const pull: Json = objectOf((await ask(threads, { number, after }))?.['pullRequest']);
        const { nodes, pageInfo } = objectOf(pull['reviewThreads']);
        for (const row of listOf(nodes)) {
          const [first] = listOf(objectOf(row['comments'])['nodes']);
          if (flagOf(row['isResolved']) && first !== undefined)
            found.set(textOf(first['id']), nameOnly(readPerson(row['resolvedBy'])));
        }
        const { hasNextPage, endCursor } = objectOf(pageInfo);
        if (!flagOf(hasNextPage) || textOf(endCursor) === '' || endCursor === after) break;
        after = textOf(endCursor);
      }
      return found;
    },
  };
}
