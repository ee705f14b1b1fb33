import type { CiScope } from '../../ci/index.ts';
import { instanceScope } from '../../ci/index.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { organisationUrl, repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import type {
  OrganisationOwnerContext,
  PersonContext,
  RepositoryPersonContext,
  RequestContext,
} from '../app/request-context.ts';

/** The scope of the runners, secrets and variables of a page, and the layout around them. */
interface ScopePage {
  scope: CiScope;
  /** URL prefix of the pages. */
  url: string;
  kind: CiScope['kind'];
  /** `this server`, `alice/work`: the name of the scope. */
  name: string;
  /** The users who can read its secrets by pushing a workflow. */
  readers: string;
  /** Whether a secret can be limited to some owners and repositories. */
  mayLimit?: true;
  /** For the page header; at most one is set. */
  repository?: unknown;
  organisation?: unknown;
}

/** The scope of a request; each of the four kinds of URLs has its own. */
export type ScopePageOf<V extends RequestContext> = (context: V) => ScopePage;

export const ofInstance: ScopePageOf<PersonContext> = () => ({
  scope: instanceScope,
  kind: 'instance',
  url: '/admin',
  name: t('runs.scopes.this_server'),
  readers: t('runs.scopes.everyone_with_write_access_to_any'),
  mayLimit: true,
});

export const ofPerson: ScopePageOf<PersonContext> = ({ person }) => ({
  scope: { kind: 'user', id: person.id },
  kind: 'user',
  url: '/settings',
  name: t('runs.scopes.all_your_repositories'),
  readers: t('runs.scopes.everyone_with_write_access_to_one'),
});

export const ofOrganisation: ScopePageOf<OrganisationOwnerContext> = ({ organisation }) => ({
  scope: { kind: 'organisation', id: organisation.id },
  kind: 'organisation',
  url: `${organisationUrl(organisation.name)}/settings`,
  name: t('runs.scopes.all_repositories_of_name', { name: organisation.name }),
  readers: t('runs.scopes.everyone_with_write_access_to_a', { name: organisation.name }),
  organisation: viewOrganisationHeader(organisation, null, 'OWNER'),
});

export const ofRepository: ScopePageOf<RepositoryPersonContext> = ({ found }) => ({
  scope: { kind: 'repository', id: found.repository.id },
  kind: 'repository',
  url: `${repositoryUrl(found.canonical)}/settings`,
  name: `${found.canonical.owner}/${found.canonical.name}`,
  readers: t('runs.scopes.everyone_with_write_access_to_this'),
  repository: viewRepositoryHeader(found),
});
