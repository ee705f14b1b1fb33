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
 * Who may call an operation, decided before its input is read.
 *
 * - `anyone`: with or without a token
 * - `token:…`: a token of at least this scope
 * - `account:…`: the same, and not limited to some repositories: what it does concerns the whole account
 * - `repository:…`: at least this right on the repository that the path names, or its
 *   ownership (SPEC §4.3); reading needs no token where it needs no right. Up to writing, the token may be that of a
 *   task of the CI (`task-permissions.ts`)
 * - `organisation:owner`: an OWNER of the organisation that the path names as `{org}`,
 *   with a token that reaches the whole account
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

/** What an operation knows of one request. */
type Call<Who extends Access, Path extends string, Query, Body> = CallFor<Who> & {
  /** Decoded. */
  params: Record<NamesIn<Path>, string>;
  query: Query;
  body: Body;
  deps: WebDeps;
  /** What clients know this server as, without a slash at the end. */
  origin: string;
  /** The header If-Match, of operations that take it; null without one, and for `*`. */
  ifMatch: string | null;
  /** Of the token that the call came with; null without one. */
  secret: string | null;
};

type OperationMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What the operations of one subject have in common. */
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
  /** Stable; clients generated from the document name their functions after it. */
  id: string;
  method: OperationMethod;
  /** Below `/api/v1`. */
  path: Path;
  tag: Tag;
  /** One line; the first word is a verb. */
  summary: string;
  /** What else a caller must know. */
  description?: string;
  access: Who;
  /** A token of this scope is needed, too, where `access` does not ask for one. */
  scope?: Scope;
  cost: CostClass;
  /** The status of success. */
  status: 200 | 201 | 202 | 204;
  /** The status of another success, which tells what was done: an update instead of a creation. */
  alsoStatus?: 200 | 204;
  /** Gitea's status for a conflict with what is there, where it is not 409. */
  conflictStatus?: 422;
  /** The JSON of a success; `bytes` for anything else, `undefined` for nothing. */
  response?: z.ZodType<Result> | 'bytes';
  /** The form of before, for `Accept: application/vnd.hearth.v0+json`, where a name means two things. */
  older?: (shown: Result) => object;
  /** Refusals that the way in does not bring along by itself. */
  refuses?: readonly (404 | 409 | 422)[];
  /** Pages follow each other by `Link` headers. */
  isPaged?: true;
  /** Of a JSON body, where 64 KiB are too little. */
  maxJsonBytes?: number;
  /** Of a body about rights or secrets: an unknown key, or one that looks like this, is refused instead of ignored. */
  refusesUnknownKeys?: true | RegExp;
  /** Edits a text: If-Match with its revision refuses a change of another one. */
  takesIfMatch?: true;
}

/** An operation as its own file writes it: the compiler holds declaration and code together. */
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

/** An operation as the table holds it. */
export interface Operation extends Omit<Declaration<Access, string, unknown>, 'older'> {
  older?: (shown: never) => object;
  query?: z.ZodType;
  body?: z.ZodType | 'image' | 'file' | 'text';
  run(call: AnyCall): Promise<ApiResponse<unknown>>;
}

/** A call before its operation says what is surely set. */
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
