import type { Federation } from '../../federation/index.ts';
import { warning } from '../check-result.ts';
import type { GroupReport, CheckResult } from '../check-result.ts';

/** Contacts every known server as deliveries do: DNS, certificate, WebFinger, clock, signatures. */
export async function checkPeers(
  federation: Pick<Federation, 'isOperational' | 'listPeers' | 'checkPeer'>,
): Promise<GroupReport> {
  if (!federation.isOperational) return { area: 'peers', findings: [], summary: 'federation is disabled' };
  const peers = (await federation.listPeers()).filter(({ allowed }) => allowed === 'settings' || allowed === 'pairing');
  const findings: CheckResult[] = [];
  for (const { host } of peers) {
    // Steps after the first failure were not tried, or failed because of it.
    const failed = (await federation.checkPeer(host)).find(({ ok }) => ok === false);
    if (failed === undefined) continue;
    findings.push(
      warning(`peers.${failed.name}`, `${host}: ${failed.words}.`.replace(/\.\.$/, '.'), {
        remedy: `hearth federation peer test ${host}`,
      }),
    );
  }
  return { area: 'peers', findings, summary: `${peers.length} tested` };
}
