import { access, constants, stat } from 'node:fs/promises';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted } from '../deps.ts';
import type { CheckContext, CheckGroup } from '../deps.ts';

/** The providers with which users sign in: whether each responds, and whether its settings can work. */
export const checkSingleSignOn: CheckGroup = async (deps) => {
  const { providers } = deps.config.oidc;
  const findings = [
    ...(await checkProviders(deps)),
    ...(await checkSecretFiles(deps)),
    ...(await checkOrganisations(deps)),
    ...checkBaseUrl(deps),
  ];
  const summary =
    providers.length === 0
      ? 'disabled: no provider is set'
      : `${counted(providers.length, 'provider responds', 'providers respond')}`;
  return { area: 'single-sign-on', findings, summary };
};

async function checkProviders({ singleSignOn, config }: CheckContext): Promise<CheckResult[]> {
  const failing = (await singleSignOn.check()).filter(({ error }) => error !== null);
  const emergency = config.accounts.passwordSignIn ? '' : '; until then: hearth user sign-in-link NAME';
  return failing.map(({ name, issuer, error }) =>
    problem('single-sign-on.unreachable', `Users cannot sign in with ${name} (${issuer}): ${error}`, {
      remedy: `see docs/single-sign-on.md${emergency}`,
    }),
  );
}

async function checkSecretFiles({ config }: CheckContext): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, clientSecretFile: file } of config.oidc.providers) {
    if (file === null) continue;
    try {
      await access(file, constants.R_OK);
      const { mode } = await stat(file);
      if ((mode & 0o004) === 0) continue;
      results.push(
        problem(
          'single-sign-on.secret_readable',
          `${file} contains the client secret of ${name} and is readable by every user.`,
          {
            remedy: `chmod 640 ${file}`,
          },
        ),
      );
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      results.push(
        problem('single-sign-on.secret_file', `The client secret of ${name}, ${file}, cannot be read: ${code}.`, {
          remedy: 'the user that runs the server needs read access',
        }),
      );
    }
  }
  return results;
}

/** A group that is mapped to a missing organisation has no effect. */
async function checkOrganisations({ config, db }: CheckContext): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, groups } of config.oidc.providers) {
    for (const organisation of new Set(groups.map((each) => each.organisation))) {
      const rows: unknown[] = await db.read.query(
        `SELECT o.id FROM handles h JOIN organisations o ON o.id = h.owner_id WHERE h.folded = ?`,
        [organisation.toLowerCase()],
      );
      if (rows.length === 0)
        results.push(
          warning(
            'single-sign-on.unknown_organisation',
            `${name} maps groups to ${organisation}, which does not exist.`,
            {
              remedy: `hearth org add ${organisation}`,
            },
          ),
        );
    }
  }
  return results;
}

function checkBaseUrl({ config }: CheckContext): CheckResult[] {
  return config.oidc.providers.length > 0 && config.baseUrl === null
    ? [
        warning(
          'single-sign-on.no_base_url',
          'base_url is not set: providers only redirect users to a registered address.',
          { remedy: 'set base_url' },
        ),
      ]
    : [];
}
