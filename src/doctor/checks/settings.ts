import { stat } from 'node:fs/promises';
import { federationObstacles } from '../../config/index.ts';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { rowsOf } from '../deps.ts';
import type { CheckGroup } from '../deps.ts';

/** The effective settings; unknown keys and contradictions stop the program before this. */
export const checkSettings: CheckGroup = async (deps) => {
  const { config, settingsFile, git } = deps;
  const findings: CheckResult[] = [];
  const file = settingsFile === null ? null : await stat(settingsFile).catch(() => null);
  if (file !== null && (file.mode & 0o004) !== 0 && config.metrics.token !== null) {
    findings.push(
      problem('settings.readable', `${settingsFile} holds a secret, and every user of this machine can read it.`, {
        remedy: `chmod 640 ${settingsFile}`,
      }),
    );
  }
  const { host } = config.http.listen;
  const isPublic = host !== '127.0.0.1' && host !== '::1' && host !== 'localhost';
  if (config.baseUrl === null && isPublic) {
    findings.push(
      warning(
        'settings.no_base_url',
        'base_url is not set: the server answers under IP addresses, localhost and names of a local network only.',
        {
          remedy: 'set base_url (SERVICE_BASE_URL) to the address that people use, and restart',
        },
      ),
    );
  }
  if (config.baseUrl !== null) {
    const { protocol, hostname } = new URL(config.baseUrl);
    const isLocal = hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]';
    if (protocol === 'http:' && !isLocal) {
      findings.push(
        warning(
          'settings.plain_http',
          'People sign in over plain http: anyone on the network path can read passwords.',
          {
            remedy: 'put a proxy with TLS in front and set base_url to its https address',
          },
        ),
      );
    }
    if (isLocal && isPublic) {
      findings.push(
        warning(
          'settings.local_base_url',
          'The server listens to others, but base_url leads to this machine only: clone addresses are wrong.',
          {
            remedy: 'set base_url (SERVICE_BASE_URL) to the address that people use',
          },
        ),
      );
    }
  }
  const { baseUrl: address } = config.federation;
  if (address !== null && federationObstacles(config.federation).length === 0) {
    const [row] = await rowsOf(deps, 'SELECT origin FROM federation_origins ORDER BY accepted_at DESC LIMIT 1');
    const [from, to] = [row?.['origin'], new URL(address).origin];
    if (from !== undefined && from !== to) {
      findings.push(
        problem(
          'settings.federation_origin',
          `Other servers know this one as ${String(from)}, but federation.base_url is ${to}: follows do not work in either direction.`,
          {
            remedy: `set SERVICE_FEDERATION_BASE_URL back to ${String(from)}, or: hearth federation origin accept ${to}`,
          },
        ),
      );
    }
  }
  if (config.federation.enabled) {
    for (const obstacle of federationObstacles(config.federation)) {
      findings.push(
        problem('settings.federation', `Federation is switched on but not working. ${obstacle}`, {
          remedy: 'hearth federation status',
        }),
      );
    }
  }
  return { area: 'settings', findings, summary: `git ${git.version}` };
};
