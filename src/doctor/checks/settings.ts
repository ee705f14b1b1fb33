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
      problem('settings.readable', `${settingsFile} contains a secret and is readable by every user of this machine.`, {
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
        'base_url is not set: the server only responds to IP addresses, localhost and local network names.',
        {
          remedy: 'set base_url (SERVICE_BASE_URL) to the address that users enter, and restart',
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
          'Users sign in over plain http: anyone on the network path can read passwords.',
          {
            remedy: 'set up a reverse proxy with TLS and set base_url to its https address',
          },
        ),
      );
    }
    if (isLocal && isPublic) {
      findings.push(
        warning(
          'settings.local_base_url',
          'The server accepts connections from other machines, but base_url points to this machine only: clone URLs are wrong.',
          {
            remedy: 'set base_url (SERVICE_BASE_URL) to the address that users enter',
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
          `Other servers know this server as ${String(from)}, but federation.base_url is ${to}: follows do not work in either direction.`,
          {
            remedy: `set SERVICE_FEDERATION_BASE_URL back to ${String(from)}, or run: hearth federation origin accept ${to}`,
          },
        ),
      );
    }
  }
  if (config.federation.enabled) {
    for (const obstacle of federationObstacles(config.federation)) {
      findings.push(
        problem('settings.federation', `Federation is enabled but does not work. ${obstacle}`, {
          remedy: 'hearth federation status',
        }),
      );
    }
  }
  return { area: 'settings', findings, summary: `git ${git.version}` };
};
