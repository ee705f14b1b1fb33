import type { ControlCommand } from '../control/index.ts';
import { createSystemSshd } from './system-sshd.ts';
import type { SystemSshdNeeds } from './system-sshd.ts';

/** The control commands of the two helpers of the system's sshd. */
export function sshdControlCommands(needs: SystemSshdNeeds): Record<string, ControlCommand> {
  const sshd = createSystemSshd(needs);
  return {
    /** Returns the id of the key, or nothing. */
    async 'ssh.keys'(ask, { output }) {
      const id = await sshd.keyId(String(ask['type']), String(ask['key']));
      if (id !== null) output.write(id);
      return 0;
    },
    'ssh.shell': (ask, { input, output, writeError, moved, signal }) =>
      sshd.serve({
        keyId: String(ask['keyId']),
        command: String(ask['command'] ?? ''),
        address: String(ask['address'] ?? ''),
        port: Number(ask['port'] ?? 0),
        protocol: typeof ask['protocol'] === 'string' ? ask['protocol'] : null,
        input,
        output,
        writeError,
        moved,
        signal,
      }),
  };
}
