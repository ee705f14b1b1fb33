import type { Command } from 'commander';
import { Option } from 'commander';
import type { Modules } from '../../app/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { QueuedMail } from '../../mail/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth mail …`: the mail server and queued mails. */
export function addMailCommands(program: Command, run: Run): void {
  const mail = addNoun(program, 'mail', 'mail server test and mail queue');
  withExamples(
    mail
      .command('test')
      .description('send a test email now')
      .argument('<address>', "recipient's email address")
      .action(run(testMail)),
    'hearth mail test you@example.org',
  );
  withExamples(
    mail
      .command('list')
      .alias('queue')
      .description('list queued and failed emails, or those in one state, most recently tried first')
      .addOption(new Option('--state <state>', 'only emails in this state').choices(['pending', 'delivered', 'failed']))
      .option('--limit <count>', 'maximum number per state', '100')
      .action(run(listMails)),
    'hearth mail list',
    'hearth mail list --state failed',
  );
  withExamples(
    mail
      .command('retry')
      .description('retry a failed email')
      .argument('[id]', 'number')
      .addOption(new Option('--state <state>', 'retry all emails in this state').choices(['failed']))
      .action(run(retryMail)),
    'hearth mail retry 17',
    'hearth mail retry --state failed',
  );
}

const columns: Column<QueuedMail>[] = [
  { title: 'ID', cell: ({ id }) => id, align: 'right' },
  { title: 'KIND', cell: ({ kind }) => kind, whole: true },
  { title: 'STATE', cell: ({ state, isDropped }) => (isDropped ? 'dropped' : state.toLowerCase()), whole: true },
  { title: 'TO', cell: ({ to }) => to ?? '' },
  { title: 'SUBJECT', cell: ({ subject }) => subject ?? '' },
  { title: 'TRIES', cell: ({ attempts }) => attempts, align: 'right' },
  { title: 'NEXT', cell: ({ state, nextAt }) => ({ epochMs: state === 'PENDING' ? nextAt : null, otherwise: '' }) },
  { title: 'ERROR', cell: ({ error }) => error ?? '' },
];

const toJson = ({ createdAt, nextAt, isDropped, ...mail }: QueuedMail): object => ({
  ...mail,
  dropped: isDropped,
  createdAt: isoOrNull(createdAt),
  nextAt: mail.state === 'PENDING' ? isoOrNull(nextAt) : null,
});

const testMail: Action<object, [string]> = async (cli, _options, address) => {
  const { mail } = await cli.openModules();
  const response = await mail.sendTest(address);
  cli.output.result(`The mail server accepted the test email for ${address}: ${response}`, { to: address, response });
};

const listMails: Action<{ state?: string; limit: string }, []> = async (cli, { state, limit }) => {
  if (!/^[1-9]\d{0,4}$/.test(limit)) throw invalid('usage', `${JSON.stringify(limit)} is not a valid limit.`);
  const { mail } = await cli.openModules();
  const states = state === undefined ? (['PENDING', 'FAILED'] as const) : [state.toUpperCase() as QueuedMail['state']];
  const found = await Promise.all(states.map((each) => mail.list({ state: each, limit: Number(limit) })));
  cli.output.list(found.flat(), columns, ['mail', 'mails'], toJson);
};

const retryMail: Action<{ state?: string }, [string | undefined]> = async (cli, { state }, id) => {
  const { mail } = await cli.openModules();
  if (id === undefined) {
    if (state !== 'failed') throw invalid('usage', 'Specify an email number, or --state failed for all failed emails.');
    refuseWithoutMail(mail);
    const retried = await mail.retryFailed();
    return cli.output.result(`${retried} ${retried === 1 ? 'email is' : 'emails are'} queued again.`, { retried });
  }
  if (!/^[1-9]\d{0,14}$/.test(id)) throw invalid('usage', 'Enter an email number, as shown by hearth mail list.');
  refuseWithoutMail(mail);
  await mail.retry(Number(id));
  cli.output.result(`Email ${id} is queued again. The server will send it within seconds.`, { id: Number(id) });
};

function refuseWithoutMail({ isConfigured, missing }: Modules['mail']): void {
  if (!isConfigured) throw conflict('mail_off', `Email is disabled: ${missing.join(', ')} is not set.`);
}
