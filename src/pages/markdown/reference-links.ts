import { organisationUrl, teamUrl, personUrl, repositoryUrl } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { FoundWithHeader } from '../app/context.ts';
import type { BareReference, ReferenceTarget } from '../../issues/index.ts';
import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import { viewName } from '../app/printable-names.ts';
import type { RequestContext } from '../app/request-context.ts';
import { translated } from '../../translation/index.ts';

/** The target of a reference. */
export interface ReferenceLink {
  url: string;
  /** For the title attribute: state and title of an issue; null where the text is sufficient. */
  title: string | null;
  /** The short form: `#7` in its repository, `owner/name#7` elsewhere. */
  name: string;
}

/** The links of one page, looked up together. */
export interface ReferenceLinks {
  /** Origin of this server as the browser knows it, whose URLs are shortened; null leaves them as they are. */
  origin: string | null;
  /** Null for objects that are missing, hidden from the viewer, or were not looked up. */
  of(reference: BareReference): ReferenceLink | null;
  /** Dependency: issues are created, closed and renamed while the page is cached. */
  dependency: Dependency;
}

/** For a page whose texts have no references. */
export const noReferences: ReferenceLinks = {
  origin: null,
  of: () => null,
  dependency: { value: null, query: async () => null },
};

type ReferenceDeps = Pick<WebDeps, 'issues'>;
type ReferenceContext = Pick<RequestContext, 'origin' | 'viewer'> & {
  readonly found: Pick<FoundWithHeader, 'canonical'> | null;
};

/** Looks up all references in the texts of a page. @param references of all texts, possibly with duplicates */
export async function readReferences(
  { viewer, found, origin }: ReferenceContext,
  { issues }: ReferenceDeps,
  references: readonly BareReference[],
): Promise<ReferenceLinks> {
  const unique = [...new Map(references.map((reference) => [keyOf(reference), bare(reference)]))];
  if (unique.length === 0) return noReferences;
  const home = found?.canonical ?? null;
  const wanted = unique.map(([, reference]) => reference);
  const dependency = await dependOn(() => issues.loadReferenceTargets(viewer, home, wanted));
  const links = new Map(
    unique.flatMap(([key], at): [string, ReferenceLink][] => {
      const target = dependency.value[at];
      return target === null || target === undefined ? [] : [[key, viewLink(target, home)]];
    }),
  );
  return { origin, of: (reference) => links.get(keyOf(reference)) ?? null, dependency };
}

/** Removes the position in the text. */
function bare(reference: BareReference): BareReference {
  if (reference.kind === 'person') return { kind: 'person', handle: reference.handle };
  if (reference.kind === 'team') return { kind: 'team', organisation: reference.organisation, team: reference.team };
  if (reference.kind === 'commit') return { kind: 'commit', repository: reference.repository, oid: reference.oid };
  return { kind: 'issue', repository: reference.repository, number: reference.number };
}

function keyOf(reference: BareReference): string {
  if (reference.kind === 'person') return `@${reference.handle.toLowerCase()}`;
  if (reference.kind === 'team') return `@${reference.organisation}/${reference.team}`.toLowerCase();
  const { repository } = reference;
  const place = repository === null ? '' : `${repository.owner}/${repository.name}`.toLowerCase();
  return reference.kind === 'issue' ? `${place}#${reference.number}` : `${place}@${reference.oid}`;
}

const states = translated({
  OPEN: 'issues.issue_row.open',
  CLOSED: 'issues.issue_row.closed',
  MERGED: 'issues.issue_row.merged',
});

type Home = { owner: string; name: string } | null;

const isHome = (repository: { owner: string; name: string }, home: Home): boolean =>
  home !== null && home.owner === repository.owner && home.name === repository.name;

function viewLink(target: ReferenceTarget, home: Home): ReferenceLink {
  if (target.kind === 'owner') {
    const url = target.ownerKind === 'user' ? personUrl(target.handle) : organisationUrl(target.handle);
    return { url, title: null, name: `@${target.handle}` };
  }
  if (target.kind === 'team') {
    const name = `@${target.organisation}/${target.team}`;
    return { url: teamUrl(target.organisation, target.team), title: null, name };
  }
  const { repository } = target;
  const place = isHome(repository, home) ? '' : `${repository.owner}/${repository.name}`;
  if (target.kind === 'commit') {
    const name = `${place === '' ? '' : `${place}@`}${target.oid.slice(0, 10)}`;
    return { url: `${repositoryUrl(repository)}/commit/${target.oid}`, title: null, name };
  }
  return {
    url: `${repositoryUrl(repository)}/${target.issueKind === 'PULL' ? 'pulls' : 'issues'}/${target.number}`,
    title: `${states[target.state]}: ${viewName(target.title)}`,
    name: `${place}#${target.number}`,
  };
}
