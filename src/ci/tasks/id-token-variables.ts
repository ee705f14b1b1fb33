import { mayProveIdentity } from '../../access/index.ts';
import type { CiDeps } from '../deps.ts';
import type { LoadedRun } from '../load-run.ts';
import { permissionsOfJob } from './task-token.ts';

/** Path of the issuer (`iss`) below the public URL of this server; discovery starts there. */
export const issuerPath = '/api/oidc';
/** Path of token requests; actions append `&audience=…`. */
const requestPath = `${issuerPath}/id-token?v=1`;

/**
 * Variables with which a job requests identity tokens, as runners read them from its context; empty without the
 * permission.
 */
export async function identityContext(
  deps: Pick<CiDeps, 'db' | 'settings'>,
  loaded: LoadedRun,
  jobKey: string,
  runtimeToken: string,
): Promise<{ [key: string]: string }> {
  const permissions = await permissionsOfJob(deps, loaded, jobKey);
  const { baseUrl } = deps.settings;
  if (baseUrl === null || permissions === null || !mayProveIdentity({ permissions })) return {};
  const url = baseUrl + requestPath;
  return {
    actions_id_token_request_url: url,
    actions_id_token_request_token: runtimeToken,
    forgejo_actions_id_token_request_url: url,
    forgejo_actions_id_token_request_token: runtimeToken,
  };
}
