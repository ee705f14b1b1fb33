import { sign } from 'node:crypto';
import { mayProveIdentity } from '../../access/index.ts';
import { forbidden, invalid } from '../../kernel/index.ts';
import { authoriseTask } from '../artifacts/authorise-task.ts';
import type { CiDeps } from '../deps.ts';
import { githubContext } from '../runs/run-context.ts';
import type { LoadedRun } from '../load-run.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { issuerPath } from '../tasks/id-token-variables.ts';
import { permissionsOfJob } from '../tasks/task-token.ts';
import { signingKey } from './signing-keys.ts';

/** Enough time to exchange the token, as on GitHub. */
const ttlSeconds = 300;
const maxAudience = 1000;

/** OpenID Connect discovery document (Discovery 1.0 §3); null without a public URL, which an issuer needs. */
export function discovery({ settings: { baseUrl } }: Pick<CiDeps, 'settings'>) {
  if (baseUrl === null) return null;
  const issuer = baseUrl + issuerPath;
  return {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    scopes_supported: ['openid'],
    claims_supported: ['sub', 'aud', 'iss', 'iat', 'nbf', 'exp', 'jti', ...claimNames],
  };
}

/**
 * Creates a JWT that identifies a running job to services that trust this server: OpenID Connect, claims as on GitHub,
 * RS256, valid for five minutes. Throws `bad_runtime_token`, `identity_not_permitted`, `audience_too_long`.
 * @param token the runtime token of the task
 * @param audience recipient of the token; null for the URL of the owner
 */
export async function identityToken(deps: CiDeps, token: string, audience: string | null): Promise<string> {
  const { run, jobId } = await authoriseTask(deps, token);
  const loaded = await deps.runs.load(run.id);
  const job = await deps.db.read.findOneByOrFail(jobSchema, { id: jobId });
  const { jobKey } = job;
  const permissions = await permissionsOfJob(deps, loaded, jobKey);
  const { baseUrl } = deps.settings;
  if (baseUrl === null || permissions === null || !mayProveIdentity({ permissions }))
    throw forbidden('identity_not_permitted', 'This needs "permissions: id-token: write" in the workflow.');
  if ((audience ?? '').length > maxAudience)
    throw invalid('audience_too_long', `An audience can have at most ${maxAudience} characters.`, {
      field: 'audience',
    });
  const seconds = Math.floor(deps.clock.now() / 1000);
  const key = await signingKey(deps);
  const text = [
    { alg: 'RS256', typ: 'JWT', kid: key.id },
    {
      jti: deps.random.uuid(),
      sub: subjectOf(loaded, job),
      aud: audience || `${baseUrl}/${loaded.owner.handle}`,
      iss: baseUrl + issuerPath,
      iat: seconds,
      nbf: seconds,
      exp: seconds + ttlSeconds,
      ...claimsOf(loaded, job, deps.settings),
    },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign('sha256', Buffer.from(text), key.key).toString('base64url')}`;
}

/** The environment that a job has entered. An environment without rules in the database proves nothing. */
const environmentOf = ({ environment, environmentId, environmentState }: JobRow): string | null =>
  environmentState === 'passed' && environmentId !== null ? environment : null;

/**
 * `repo:owner/name:environment:production`, or without an environment `repo:owner/name:ref:refs/heads/main`; a pull
 * request has no ref of its own. Colons in names are escaped, as on GitHub.
 */
function subjectOf({ run, owner, repository }: LoadedRun, job: JobRow): string {
  const name = `repo:${owner.handle}/${repository.name}`;
  const environment = environmentOf(job);
  if (environment !== null) return `${name}:environment:${environment.replaceAll(':', '%3A')}`;
  return run.event === 'pull_request' ? `${name}:pull_request` : `${name}:ref:${run.ref}`;
}

/** Claims that have the same name in the `github` context. */
const fromContext = [
  'actor',
  'actor_id',
  'base_ref',
  'event_name',
  'head_ref',
  'ref',
  'ref_type',
  'repository',
  'repository_id',
  'repository_owner',
  'repository_owner_id',
  'run_attempt',
  'run_id',
  'run_number',
  'sha',
  'workflow',
  'workflow_ref',
  'workflow_sha',
];
const claimNames = [
  ...fromContext,
  'environment',
  'job_workflow_ref',
  'job_workflow_sha',
  'ref_protected',
  'repository_visibility',
  'runner_environment',
];

/** The claim `environment` is present only for jobs with an environment. */
function claimsOf(loaded: LoadedRun, job: JobRow, settings: CiDeps['settings']): { [claim: string]: unknown } {
  const context = githubContext(loaded, settings);
  const { repository } = loaded;
  const environment = environmentOf(job);
  return {
    ...Object.fromEntries(fromContext.map((name) => [name, context[name]])),
    ...(environment !== null && { environment }),
    ...calledFileOf(loaded, job.jobKey, context),
    // A string, as on GitHub.
    ref_protected: String(context['ref_protected']),
    repository_visibility: repository.visibility.toLowerCase(),
    runner_environment: 'self-hosted',
  };
}

/**
 * The file that defines the job, so that a service can trust a called workflow regardless of the calling repository.
 */
function calledFileOf(
  { parsed }: LoadedRun,
  jobKey: string,
  context: ReturnType<typeof githubContext>,
): { job_workflow_ref: unknown; job_workflow_sha: unknown } {
  const file = (parsed.ok ? parsed.workflow.jobs.get(jobKey)?.call?.file : null) ?? null;
  if (file === null) return { job_workflow_ref: context['workflow_ref'], job_workflow_sha: context['workflow_sha'] };
  const { repository, ref, sha } = file.commit ?? {
    repository: context['repository'],
    ref: context['ref'],
    sha: context['sha'],
  };
  return { job_workflow_ref: `${String(repository)}/${file.path}@${String(ref)}`, job_workflow_sha: sha };
}
