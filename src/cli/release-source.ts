import { resolve } from 'node:path';
import { invalid } from '../kernel/index.ts';
import type { ReleaseSource } from '../updates/index.ts';
import type { Cli } from './cli.ts';

/** URL and signing key of releases: from the options, otherwise from the settings. Throws `config_updates_missing`. */
export async function releaseSource(cli: Cli, given: { from?: string; signers?: string }): Promise<ReleaseSource> {
  const { config } = await cli.loadConfig();
  const { url, signers } = config.updates;
  const from = given.from ?? url;
  const file = given.signers ?? signers;
  if (from === null || file === null) {
    const unset = [...(from === null ? ['updates.url'] : []), ...(file === null ? ['updates.signers'] : [])];
    throw invalid('config_updates_missing', `Not set: ${unset.join(' and ')}. Hearth does not check for releases.`);
  }
  const isAddress = /^https?:\/\//.test(from);
  const cwd = cli.process.cwd();
  return { from: isAddress ? from : resolve(cwd, from), signers: resolve(cwd, file), caFile: config.caFile };
}
