import type { Confirmation } from './confirm-identity.ts';
import type { AccessDeclaration } from './access-declarations.ts';
import type {
  OrganisationOwnerContext,
  Page,
  PersonContext,
  RepositoryPersonContext,
  RepositoryContext,
  RequestContext,
} from './request-context.ts';
import type { CostClass } from '../../http/index.ts';
import type { Middleware } from './context.ts';

interface Declaration<Access extends AccessDeclaration> {
  method: 'GET' | 'POST';
  path: string;
  access: Access;
  cost: CostClass;
  /** Name of the form's file field; other forms are read without files. */
  upload?: string;
  /** Limit of a form in bytes, where the default is too small for its texts. */
  maxFormBytes?: number;
  /** The form may contain files for the text of an issue or pull request, which are stored before its page runs. */
  takesFiles?: 'ISSUE' | 'PULL';
  /** The form may contain files for the repository; they are held in memory. */
  takesContents?: true;
  /** The form may contain files for a release. */
  takesReleaseFiles?: true;
  /** The user must confirm their identity when the last confirmation is too old; see `app/confirm-identity.ts`. */
  confirmation?: Confirmation;
  /** The request body is ignored: programs that send it may choose its type. */
  ignoresBody?: true;
  /** Programs without a cookie authenticate with an access token, as for git. Only for GET. */
  takesTokens?: true;
}

/** The access declaration decides which fields are set in the context of a page; the types enforce it. */
export type PageRoute =
  | (Declaration<'open' | 'public'> & { page: Page<RequestContext> })
  | (Declaration<'newcomer' | 'signed-in' | 'administrator'> & { page: Page<PersonContext> })
  | (Declaration<'organisation:owner'> & { page: Page<OrganisationOwnerContext> })
  | (Declaration<'repository:read'> & { page: Page<RepositoryContext> })
  | (Declaration<'repository:write' | 'repository:admin' | 'repository:owner'> & {
      page: Page<RepositoryPersonContext>;
    });

interface Protocol<Access extends AccessDeclaration> {
  method: 'GET' | 'POST' | 'ANY';
  path: string;
  access: Access;
  cost: CostClass;
  handle: Middleware;
}

/** A URL of another protocol, whose handler does its own authentication. */
export type ProtocolRoute =
  | Protocol<'api'>
  | Protocol<'task'>
  | Protocol<'packages'>
  | Protocol<'federation'>
  | Protocol<'oauth'>
  | Protocol<'operator'>;

export type Route = PageRoute | ProtocolRoute;

/** Creates a row for a settings page that several kinds of owners have. */
export type SettingsRow<V extends PersonContext> = (method: 'GET' | 'POST', path: string, page: Page<V>) => PageRoute;

export const inAdministration: SettingsRow<PersonContext> = (method, path, page) => ({
  method,
  path: `/admin${path}`,
  access: 'administrator',
  cost: 'rows',
  page,
});

export const inPersonSettings: SettingsRow<PersonContext> = (method, path, page) => ({
  method,
  path: `/settings${path}`,
  access: 'signed-in',
  cost: 'rows',
  page,
});

export const inOrganisationSettings: SettingsRow<OrganisationOwnerContext> = (method, path, page) => ({
  method,
  path: `/orgs/:name/settings${path}`,
  access: 'organisation:owner',
  cost: 'rows',
  page,
});

export const inRepositorySettings: SettingsRow<RepositoryPersonContext> = (method, path, page) => ({
  method,
  path: `/repos/:owner/:name/settings${path}`,
  access: 'repository:admin',
  cost: 'rows',
  page,
});
