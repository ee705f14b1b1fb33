import type { Command } from 'commander';
import { webAddress } from '../serving/addresses.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import type { Run } from '../action.ts';

/** `hearth setup-url`: the link that creates the first administrator. */
export function addSetupUrlCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('setup-url')
      .description('print the one-time setup link for the first administrator')
      .option('--rotate', 'invalidate previously printed links')
      .action(run(printSetupUrl)),
    'hearth setup-url',
  );
}

async function printSetupUrl(cli: Cli, { rotate = false }: { rotate?: boolean }): Promise<void> {
  const { accounts, config } = await cli.openModules();
  const token = await accounts.setupToken({ rotate });
  const url = setupUrl(webAddress(config), token);
  cli.output.secret(url, 'Open this link within 24 hours:', { url });
}

export function setupUrl(web: string, token: string): string {
  return `${web}/setup?token=${token}`;
}
