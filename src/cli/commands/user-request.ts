import type { Command } from 'commander';
import { notFound } from '../../kernel/index.ts';
import type { Modules } from '../../app/index.ts';
import type { Action, Run } from '../action.ts';
import { webAddress } from '../serving/addresses.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';

/** `hearth user request …`: requests for an account, if the settings allow them. */
export function addUserRequestCommands(user: Command, run: Run): void {
  const request = addNoun(user, 'request', 'account requests');
  withExamples(
    request.command('list').description('list pending requests, oldest first').action(run(list)),
    'hearth user request list',
  );
  withExamples(
    request
      .command('approve')
      .description('print an invitation link for a request, and email it if email is configured')
      .argument('<address>', 'email address or id of the request')
      .action(run(approve)),
    'hearth user request approve carol@example.org',
  );
  withExamples(
    request
      .command('refuse')
      .alias('remove')
      .description('reject a request')
      .argument('<address>', 'email address or id of the request')
      .action(run(refuse)),
    'hearth user request refuse carol@example.org',
  );
}

const list: Action<object, []> = async (cli) => {
  const { accounts } = await cli.openModules();
  cli.output.list(
    await accounts.listSignUpRequests(),
    [
      { title: 'ADDRESS', cell: ({ address }) => address },
      { title: 'ASKED', cell: ({ createdAt }) => ({ epochMs: createdAt, otherwise: '' }) },
      { title: 'REASON', cell: ({ reason }) => reason.replace(/\s+/g, ' ') },
    ],
    ['request', 'requests'],
    ({ id, address, reason, createdAt }) => ({ id, address, reason, createdAt: isoOrNull(createdAt) }),
  );
};

async function find({ accounts }: Modules, text: string) {
  const found = (await accounts.listSignUpRequests()).find(
    ({ id, address }) => id === text || address.toLowerCase() === text.toLowerCase(),
  );
  if (found === undefined)
    throw notFound('unknown_sign_up_request', `No pending request matches ${JSON.stringify(text)}.`);
  return found;
}

const approve: Action<object, [string]> = async (cli, _options, text) => {
  const modules = await cli.openModules();
  const { id, address } = await find(modules, text);
  const { invite, secret } = await modules.accounts.approveSignUp(null, id);
  const url = `${webAddress(modules.config)}/signup?invite=${encodeURIComponent(secret)}`;
  const until = isoOrNull(invite.expiresAt);
  const line =
    invite.mailedAt === null
      ? `This link lets ${address} create an account until ${until}:`
      : `Sent the invitation to ${address}. If it does not arrive, use this link before ${until}:`;
  cli.output.secret(url, line, { id: invite.id, address, expiresAt: until, url });
};

const refuse: Action<object, [string]> = async (cli, _options, text) => {
  const modules = await cli.openModules();
  const { id, address } = await find(modules, text);
  await modules.accounts.refuseSignUp(id);
  cli.output.result(`Rejected the request from ${address}.`, { id, address });
};
