import type { Command } from 'commander';
import type { ListedPeer, PeerCheck } from '../../federation/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth federation peers`, `hearth federation peer …`: the servers that this one exchanges activities with. */
export function addPeerCommands(federation: Command, run: Run): void {
  const peer = addNoun(federation, 'peer', 'pairing and connections with other servers');
  // The same command under both names.
  for (const [parent, name, example] of [
    [federation, 'peers', 'hearth federation peers'],
    [peer, 'list', 'hearth federation peer list'],
  ] as const) {
    withExamples(
      parent.command(name).description('list other servers and their state').action(run(listPeers)),
      example,
    );
  }
  withExamples(
    peer
      .command('test')
      .description('test the connection to another server')
      .argument('<host>', 'host name')
      .action(run(testPeer)),
    'hearth federation peer test forge.example.org',
  );
  withExamples(
    peer
      .command('invite')
      .description('print a pairing code for another server, valid for 15 minutes')
      .action(run(invitePeer)),
    'hearth federation peer invite',
  );
  withExamples(
    peer
      .command('accept')
      .description('request pairing with the server that issued a code')
      .argument('<code>', 'code printed on the other server by "hearth federation peer invite"')
      .action(run(acceptPeer)),
    "hearth federation peer accept 'https://forge.example.org/ap/pairing#…'",
  );
  withExamples(
    peer
      .command('confirm')
      .description('confirm the pairing of a server that used your code')
      .argument('<host>', 'host name')
      .action(run(confirmPeer)),
    'hearth federation peer confirm other.example.org',
  );
  withExamples(
    peer
      .command('remove')
      .alias('delete')
      .description('end a pairing, or reject a pairing request')
      .argument('<host>', 'host name')
      .action(run(removePeer)),
    'hearth federation peer remove other.example.org',
  );
}

/** If deliveries to the peer have ended, includes the time: the last error alone would suggest that it is retried. */
function lastErrorOf({ goneAt, silentSince, lastError }: ListedPeer): string {
  if (goneAt === null) return lastError ?? '';
  return `gone, no answer since ${new Date(silentSince ?? goneAt).toISOString().slice(0, 10)}: ${lastError ?? ''}`;
}

const peerColumns: Column<ListedPeer>[] = [
  { title: 'HOST', cell: ({ host }) => host, whole: true },
  { title: 'ALLOWED', cell: ({ allowed, askedAt }) => (askedAt === null ? allowed : 'asks to be paired') },
  { title: 'SOFTWARE', cell: ({ software }) => software ?? '' },
  { title: 'LAST OK', cell: ({ lastSuccessAt }) => never(lastSuccessAt) },
  { title: 'LAST ERROR', cell: lastErrorOf },
  { title: 'QUEUED', cell: ({ queued }) => queued, align: 'right' },
  { title: 'FAILED', cell: ({ failed }) => failed, align: 'right' },
];

const listPeers: Action<object, []> = async (cli) => {
  const { federation } = await cli.openModules();
  cli.output.list(await federation.listPeers(), peerColumns, ['peer', 'peers'], (row) => ({
    host: row.host,
    allowed: row.allowed,
    askedAt: isoOrNull(row.askedAt),
    lastSuccessAt: isoOrNull(row.lastSuccessAt),
    lastErrorAt: isoOrNull(row.lastErrorAt),
    lastError: row.lastError,
    failures: row.failures,
    retryAt: isoOrNull(row.retryAt),
    silentSince: isoOrNull(row.silentSince),
    goneAt: isoOrNull(row.goneAt),
    software: row.software,
    reads: row.reads,
    followers: row.followers,
    retainedFollowers: row.goneAt === null ? 0 : row.followers,
    queued: row.queued,
    failed: row.failed,
  }));
};

const checkColumns: Column<PeerCheck>[] = [
  { title: 'STEP', cell: ({ name }) => name, whole: true },
  { title: 'RESULT', cell: ({ ok }) => (ok === null ? '-' : ok ? 'ok' : 'failed'), whole: true },
  { title: 'DETAIL', cell: ({ words }) => words, whole: true },
];

/** Exits with 7 if a step failed. */
const testPeer: Action<object, [string]> = async (cli, _options, host) => {
  if (!URL.canParse(`https://${host}`)) throw invalid('invalid_host', `${host} is not a host name.`);
  const { federation } = await cli.openModules();
  const checks = await federation.checkPeer(host);
  cli.output.list(checks, checkColumns, ['step', 'steps'], ({ name, ok, words }) => ({
    step: name,
    ok,
    detail: words,
  }));
  if (checks.some(({ ok }) => ok === false)) cli.exitCode = 7;
};

const invitePeer: Action<object, []> = async (cli) => {
  const { federation } = await cli.openModules();
  const { code, expiresAt } = await federation.invitePeer();
  const line =
    "Give this code to the other server's administrator. It works once within 15 minutes. " +
    'Then confirm the server that used it: hearth federation peer confirm HOST.';
  cli.output.secret(code, line, { code, expiresAt: isoOrNull(expiresAt) });
};

const acceptPeer: Action<object, [string]> = async (cli, _options, code) => {
  const { federation } = await cli.openModules();
  const host = federation.hostOfCode(code);
  await cli.confirm(`Pair with ${host}? This server will then send data to it and accept data from it.`);
  await federation.acceptInvite(code);
  cli.output.result(`Paired with ${host}. The administrator there also has to confirm.`, { host, allowed: 'pairing' });
};

const confirmPeer: Action<object, [string]> = async (cli, _options, host) => {
  const { federation } = await cli.openModules();
  await cli.confirm(`Confirm the pairing with ${host}? Only do so if you gave the code to its administrator.`);
  await federation.confirmPeer(host);
  cli.output.result(`${host} is now allowed.`, { host, allowed: 'pairing' });
};

const removePeer: Action<object, [string]> = async (cli, _options, host) => {
  const { federation } = await cli.openModules();
  await cli.confirm(`End the pairing with ${host}?`);
  await federation.removePeer(host);
  cli.output.result(`${host} is no longer allowed through a pairing.`, { host, allowed: 'no' });
};
