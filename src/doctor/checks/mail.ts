import { access, constants, stat } from 'node:fs/promises';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, dayMs, rowsOf } from '../deps.ts';
import type { CheckContext, CheckGroup } from '../deps.ts';

/**
 * Mail settings, the password file, and mails that are waiting or were refused. Checks nothing without a mail server.
 */
export const checkMail: CheckGroup = async (deps) => {
  const { mail } = deps.config;
  const isOn = mail.host !== null && mail.from !== null && deps.config.baseUrl !== null;
  const findings = [...checkMailSettings(deps), ...(await checkPasswordFile(deps)), ...(await checkMails(deps))];
  return { area: 'mail', findings, summary: isOn ? `sent through ${mail.host}` : 'disabled: no mail server is set' };
};

function checkMailSettings({ config: { mail, baseUrl } }: CheckContext): CheckResult[] {
  const missing = [
    ...(mail.host === null ? ['mail.host'] : []),
    ...(mail.from === null ? ['mail.from'] : []),
    ...(baseUrl === null ? ['base_url'] : []),
  ];
  const wantsMail = mail.host !== null || mail.from !== null;
  const hasPassword = mail.password !== null || mail.passwordFile !== null;
  return [
    ...(wantsMail && missing.length > 0
      ? [
          problem('mail.incomplete', `Email is disabled: ${missing.join(' and ')} is not set.`, {
            remedy: 'see docs/mail.md',
          }),
        ]
      : []),
    ...(mail.user !== null && !hasPassword
      ? [warning('mail.no_password', 'mail.user is set without a password.', { remedy: 'set mail.password_file' })]
      : []),
    ...(mail.user === null && hasPassword
      ? [
          warning(
            'mail.no_user',
            'A mail password is set, but mail.user is not: Hearth does not sign in to the mail server.',
            {
              remedy: 'set mail.user',
            },
          ),
        ]
      : []),
  ];
}

async function checkPasswordFile({ config: { mail } }: CheckContext): Promise<CheckResult[]> {
  const { passwordFile } = mail;
  if (passwordFile === null) return [];
  try {
    await access(passwordFile, constants.R_OK);
    const { mode } = await stat(passwordFile);
    if ((mode & 0o004) === 0) return [];
    return [
      problem('mail.password_readable', `${passwordFile} contains the mail password and is world-readable.`, {
        remedy: `chmod 640 ${passwordFile}`,
      }),
    ];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return [
      problem('mail.password_file', `${passwordFile} (mail.password_file) cannot be read: ${code}.`, {
        remedy: 'the user that runs the server needs read access',
      }),
    ];
  }
}

/** The group `queues` reports overdue mails, like all messages of the outbox. */
async function checkMails(deps: CheckContext): Promise<CheckResult[]> {
  const retried = await rowsOf(
    deps,
    `SELECT last_error FROM outbox WHERE state = 'PENDING' AND kind = 'mail' AND attempts >= 5 LIMIT 1000`,
  );
  const failed = await rowsOf(
    deps,
    `SELECT last_error FROM outbox WHERE state = 'FAILED' AND kind = 'mail' AND next_at > ?
      ORDER BY next_at DESC LIMIT 1000`,
    [deps.now - dayMs],
  );
  const last = (found: { last_error?: unknown }[]): string => String(found[0]?.last_error ?? '');
  return [
    ...(retried.length === 0
      ? []
      : [
          warning(
            'mail.retried',
            `${counted(retried.length, 'email has', 'emails have')} been retried several times: ${last(retried)}`,
            {
              remedy: 'hearth mail test ADDRESS shows whether it works now',
            },
          ),
        ]),
    ...(failed.length === 0
      ? []
      : [
          warning(
            'mail.refused',
            `${counted(failed.length, 'email', 'emails')} failed since yesterday: ${last(failed)}`,
            {
              remedy: 'hearth mail list --state failed; hearth mail retry --state failed',
            },
          ),
        ]),
  ];
}
