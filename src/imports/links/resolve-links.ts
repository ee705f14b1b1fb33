import { In } from 'typeorm';
import { rowBy } from '../../db/index.ts';
import type { ImportDeps } from '../deps.ts';
import { importSchema } from '../schema/import-schema.ts';
import type { NumberedKind } from '../sources/source-numbers.ts';
import { lookUpNumbers } from './apart-number.ts';
import { parseSourceLink } from './parse-source-link.ts';
import type { LinkSource, ParsedLink, SourceLink } from './parse-source-link.ts';
import { fileAt } from './source-files.ts';

/** The local target of a URL of the other forge. Does not check that it exists or that the viewer can see it. */
export type HereLink =
  | {
      kind: 'issue';
      /** Null for the repository of the text. */
      repository: { owner: string; name: string } | null;
      number: number;
      /** The log entry in the anchor; null for none. */
      position: number | null;
      part: 'changes' | 'commits' | null;
    }
  | { kind: 'commit'; repository: { owner: string; name: string } | null; oid: string }
  /** In the repository of the text: escaped segments after it, in GitHub's and Gitea's terms. */
  | { kind: 'page'; segments: string[]; end: string }
  | { kind: 'file'; id: string };

/** Links of the texts of one page. */
export interface WantedLinks {
  addresses: readonly string[];
  /** Items that texts reference as `#7` and `!7`; only if the source numbers the two separately. */
  named: readonly (readonly [kind: NumberedKind, number: number])[];
}

interface ResolvedLinks {
  addresses: (readonly [address: string, link: HereLink])[];
  /** Numbers here by `issue:7`, `pull:7`. */
  numbers: (readonly [name: string, number: number])[];
}

/** Limit of resolved URLs per page. */
const most = 500;

/** The source of an imported repository; null for all others. */
export async function findLinkSource(
  { db }: Pick<ImportDeps, 'db'>,
  repositoryId: string,
): Promise<(LinkSource & { importId: string }) | null> {
  const row = await rowBy(db.lookup, importSchema, { repositoryId });
  return row === null ? null : { importId: row.id, kind: row.kind, url: row.url, project: row.project };
}

/**
 * Resolves URLs of the other forge to local targets: issues, pull requests, commits, pages and files of the repository
 * itself, and issues and commits of other repositories imported from the same server.
 */
export async function resolveLinks(
  deps: ImportDeps,
  repositoryId: string,
  source: LinkSource & { importId: string },
  { addresses, named }: WantedLinks,
): Promise<ResolvedLinks> {
  const unique = [...new Set(addresses)].slice(0, most);
  const files = await findFiles(deps, repositoryId, source, unique);
  const parsed = unique.flatMap((address): [string, ParsedLink][] => {
    const found = files.has(address) ? null : parseSourceLink(source, address);
    return found === null ? [] : [[address, found]];
  });
  const places = await findPlaces(deps, source, repositoryId, parsed);
  const wanted = new Map<string, (readonly [kind: NumberedKind, iid: number])[]>([
    [source.importId, source.kind === 'gitlab' ? [...named] : []],
  ]);
  for (const [, { project, link }] of parsed) {
    const place = places.get(project.toLowerCase());
    if (place === undefined || link.kind !== 'issue' || source.kind !== 'gitlab') continue;
    wanted.set(place.importId, [...(wanted.get(place.importId) ?? []), [link.numbered, link.number]]);
  }
  const numbers = new Map<string, Map<string, number>>();
  for (const [importId, names] of wanted) numbers.set(importId, await lookUpNumbers(deps, importId, names));
  const numberOf = ({ importId }: Place, link: SourceLink & { kind: 'issue' }): number =>
    numbers.get(importId)?.get(`${link.numbered}:${link.number}`) ?? link.number;
  const entries = new Map<string, Map<string, number>>();
  for (const place of places.values()) {
    const shown = parsed.flatMap(([, { project, link }]) =>
      places.get(project.toLowerCase()) === place && link.kind === 'issue' && link.entry !== null
        ? [[numberOf(place, link), link.entry] as const]
        : [],
    );
    entries.set(place.repositoryId, await deps.issues.followed.findEntries(place.repositoryId, shown));
  }
  const linked = parsed.flatMap(([address, { project, link }]): [string, HereLink][] => {
    const place = places.get(project.toLowerCase());
    if (place === undefined) return [];
    const { repository } = place;
    if (link.kind === 'commit') return [[address, { kind: 'commit', repository, oid: link.oid }]];
    // Only users who can see a repository may learn that it exists: these targets are later looked up with the viewer's
    // rights.
    if (link.kind === 'page') return repository === null ? [[address, link]] : [];
    const number = numberOf(place, link);
    const position = entries.get(place.repositoryId)?.get(`${number} ${link.entry}`) ?? null;
    return [[address, { kind: 'issue', repository, number, position, part: link.part }]];
  });
  return {
    addresses: [...[...files].map(([address, id]) => [address, { kind: 'file', id }] as const), ...linked],
    numbers: [...(numbers.get(source.importId) ?? [])],
  };
}

async function findFiles(
  deps: Pick<ImportDeps, 'issues'>,
  repositoryId: string,
  source: LinkSource,
  addresses: readonly string[],
): Promise<Map<string, string>> {
  const keys = new Map(
    addresses.flatMap((address) => {
      const file = fileAt(source, address);
      return file === null ? [] : [[address, file.key] as const];
    }),
  );
  const ids = await deps.issues.followed.findFiles(repositoryId, [...new Set(keys.values())]);
  return new Map([...keys].flatMap(([address, key]) => (ids.has(key) ? [[address, ids.get(key)!] as const] : [])));
}

interface Place {
  importId: string;
  repositoryId: string;
  /** Null for the repository of the text. */
  repository: { owner: string; name: string } | null;
}

/** Local repositories of linked projects, by lower-case project name. */
async function findPlaces(
  { db, repositories }: ImportDeps,
  { importId, project, url }: LinkSource & { importId: string },
  repositoryId: string,
  parsed: readonly (readonly [string, ParsedLink])[],
): Promise<Map<string, Place>> {
  const places = new Map<string, Place>([[project.toLowerCase(), { importId, repositoryId, repository: null }]]);
  const others = new Set(
    parsed.flatMap(([, { project: other, link }]) =>
      link.kind === 'page' || places.has(other.toLowerCase()) ? [] : [other],
    ),
  );
  if (others.size === 0) return places;
  const { host } = new URL(url);
  const found = await db.read.find(importSchema, {
    where: { host, project: In([...others].slice(0, mostProjects)) },
    select: { id: true, repositoryId: true, project: true, createdAt: true },
  });
  // If a project was imported twice, its first import counts.
  const rows = found.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
  const located = await repositories.locate(rows.map((row) => row.repositoryId));
  for (const row of rows) {
    const at = located.get(row.repositoryId);
    if (at === undefined || places.has(row.project.toLowerCase())) continue;
    places.set(row.project.toLowerCase(), {
      importId: row.id,
      repositoryId: row.repositoryId,
      repository: { owner: at.owner.handle, name: at.repository.name },
    });
  }
  return places;
}

/** Limit of repositories referenced by the texts of one page. */
const mostProjects = 50;
