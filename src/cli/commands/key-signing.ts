import type { Command } from 'commander';
import type { InstanceSigningKey } from '../../signing/index.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Run } from '../action.ts';

/** `hearth key signing`: the key that signs commits created by the server. */
export function addSigningKeyCommand(key: Command, run: Run): void {
  withExamples(
    key
      .command('signing')
      .description("show the server's own signing key")
      .option('--rotate', 'replace it; signatures made with the old key remain verified')
      .option('--allowed-signers', "print the keys for git's gpg.ssh.allowedSignersFile")
      .action(run(showSigningKey)),
    'hearth key signing',
    'hearth key signing --allowed-signers >> ~/.config/git/allowed_signers',
    'hearth key signing --rotate',
  );
}

const toJson = ({ fingerprint, publicKey, createdAt, retiredAt }: InstanceSigningKey): object => ({
  fingerprint,
  publicKey,
  createdAt: isoOrNull(createdAt),
  retiredAt: isoOrNull(retiredAt),
});

interface SigningOptions {
  rotate?: true;
  allowedSigners?: true;
}

async function showSigningKey(cli: Cli, { rotate, allowedSigners }: SigningOptions): Promise<void> {
  const { signing } = await cli.openModules();
  if (rotate) {
    await cli.confirm("Replace this server's signing key?");
    const key = await signing.rotateInstanceKey();
    return cli.output.result(`The server now signs with ${key.fingerprint}.`, toJson(key));
  }
  const current = await signing.currentInstanceKey();
  const keys = await signing.instanceKeys();
  if (allowedSigners) return cli.output.print(await signing.allowedSigners(), { keys: keys.map(toJson) });
  cli.output.show(
    [
      ['Public key', `${current.publicKey} ${signing.identity.address}`],
      ['Fingerprint', current.fingerprint],
      ['Made', never(current.createdAt)],
      ['Replaced keys', String(keys.length - 1)],
    ],
    { ...toJson(current), replaced: keys.slice(1).map(toJson) },
  );
}
