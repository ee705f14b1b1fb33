import type { z } from 'zod';
import type { PersonViewer, Scope, Viewer } from '../access/index.ts';
import type { ImageUpload } from '../images/index.ts';
import type { Organisation } from '../organisations/index.ts';
import type { Found, Needed } from '../repositories/index.ts';
import type { CostClass } from '../http/index.ts';
import type { WebDeps } from '../web/index.ts';
import type { ApiResponse } from './responses.ts';
import type { UploadedFile } from './uploaded-file.ts';

/**
 * Access that an operation requires, checked before its input is read.
 *
 * - `anyone`: with or without a token
 * - `token:…`: a token of at least this scope
 * - `account:…`: the same, but not limited to some repositories, because the operation concerns the whole account
 * - `repository:…`: at least this right on the repository in the path, or its ownership (SPEC §4.3); reading public
 *   repositories needs no token. Up to writing, a CI task token also suffices (`task-permissions.ts`)
 * - `organisation:owner`: an OWNER of the organisation in the path (`{org}`), with a token for the whole account
 * - `administrator`: an administrator of this server, with such a token
 */
export type Access =
  | 'anyone'
  | `token:${Scope}`
  | `account:${Scope}`
  | `repository:${Needed}`
  | 'organisation:owner'
  | 'administrator';

/** The names in `/repos/{owner}/{name}`. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

interface CallOfAnyone {
  viewer: Viewer;
}
interface CallOfPerson {
  viewer: PersonViewer;
}
interface CallOnRepository {
  found: Found;
}
interface CallOnOrganisation {
  organisation: Organisation;
}

type CallFor<Who extends Access> = Who extends 'anyone'
  ? CallOfAnyone
  : Who extends 'repository:read' | 'repository:write'
    ? CallOfAnyone & CallOnRepository
    : Who extends `repository:${string}`
      ? CallOfPerson & CallOnRepository
      : Who extends 'organisation:owner'
        ? CallOfPerson & CallOnOrganisation
        : CallOfPerson;

/** The request as an operation sees it. */
type Call<Who extends Access, Path extends string, Query, Body> = CallFor<Who> & {
  /** Decoded. */
  params: Record<NamesIn<Path>, string>;
  query: Query;
  body: Body;
  deps: WebDeps;
  /** Origin by which clients know this server, without a trailing slash. */
  origin: string;
  /** The header If-Match, for operations that support it; null without one, and for `*`. */
  ifMatch: string | null;
  /** Token of the call; null without one. */
  secret: string | null;
};

type OperationMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Properties that the operations of one subject share. */
export type Tag =
  | 'Search'
  | 'Repositories'
  | 'Branch rules'
  | 'Deploy keys'
  | 'Contents'
  | 'Wikis'
  | 'Pushes'
  | 'Webhooks'
  | 'Mirrors'
  | 'Statuses'
  | 'Collaborators'
  | 'Issues'
  | 'Pull requests'
  | 'Releases'
  | 'Packages'
  | 'Issue comments'
  | 'Labels'
  | 'Milestones'
  | 'Boards'
  | 'Moderation'
  | 'Images'
  | 'Pins'
  | 'Notifications'
  | 'Follows'
  | 'Users'
  | 'Organisations'
  | 'Teams'
  | 'Runs'
  | 'Environments'
  | 'Deployments'
  | 'Runners'
  | 'Secrets'
  | 'Administration'
  | 'Miscellaneous';

interface Declaration<Who extends Access, Path extends string, Result> {
  /** Stable: clients generated from the document name their functions after it. */
  id: string;
  method: OperationMethod;
  /** Below `/api/v1`. */
  path: Path;
  tag: Tag;
  /** One line that starts with a verb. */
  summary: string;
  /** Other information for callers. */
  description?: string;
  access: Who;
  /** Scope that a token also needs, if `access` does not require one. */
  scope?: Scope;
  cost: CostClass;
  /** Status of a success. */
  status: 200 | 201 | 202 | 204;
  /** Status of another success, which tells the caller what happened: an update instead of a creation. */
  alsoStatus?: 200 | 204;
  /** Gitea's status for a conflict, if it is not 409. */
  conflictStatus?: 422;
  /** JSON of a success; `bytes` for anything else, `undefined` for no body. */
  response?: z.ZodType<Result> | 'bytes';
  /** The former shape, for `Accept: application/vnd.hearth.v0+json`, if a name has two meanings. */
  older?: (shown: Result) => object;
  /** Errors besides those of authentication and authorization. */
  refuses?: readonly (404 | 409 | 422)[];
  /** Whether pages are linked by `Link` headers. */
  isPaged?: true;
  /** Limit of a JSON body, if 64 KiB are too few. */
  maxJsonBytes?: number;
  /** For bodies about rights or secrets: unknown keys, or keys similar to this one, are refused instead of ignored. */
  refusesUnknownKeys?: true | RegExp;
  /** Whether it edits a text: If-Match with its revision refuses a change of another revision. */
  takesIfMatch?: true;
}

/** An operation as declared in its file: the compiler checks that declaration and code match. */
interface TypedOperation<
  Who extends Access,
  Path extends string,
  Query extends z.ZodType,
  Body extends z.ZodType | 'image' | 'file' | 'text',
  Result,
> extends Declaration<Who, Path, Result> {
  query?: Query;
  body?: Body;
  run(
    call: Call<
      Who,
      Path,
      z.output<Query>,
      Body extends z.ZodType
        ? z.output<Body>
        : Body extends 'file'
          ? UploadedFile
          : Body extends 'text'
            ? string
            : ImageUpload
    >,
  ): Promise<ApiResponse<Result>>;
}

/** An operation as stored in the table. */
export interface Operation extends Omit<Declaration<Access, string, unknown>, 'older'> {
  older?: (shown: never) => object;
  query?: z.ZodType;
  body?: z.ZodType | 'image' | 'file' | 'text';
  run(call: AnyCall): Promise<ApiResponse<unknown>>;
}

/** A call before its operation's access narrows the types. */
export interface AnyCall {
  viewer: Viewer;
  found: Found | null;
  organisation: Organisation | null;
  params: Record<string, string>;
  query: unknown;
  body: unknown;
  deps: WebDeps;
  origin: string;
  ifMatch: string | null;
  secret: string | null;
}

/** Declares an operation of the API. */
export function operation<
  const Who extends Access,
  const Path extends string,
  Result,
  Query extends z.ZodType = z.ZodNever,
  Body extends z.ZodType | 'image' | 'file' | 'text' = z.ZodNever,
>(declared: TypedOperation<Who, Path, Query, Body, Result>): Operation {
  return declared as unknown as Operation;
}
