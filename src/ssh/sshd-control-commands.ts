import type { ControlCommand } from '../control/index.ts';
import { createSystemSshd } from './system-sshd.ts';
import type { SystemSshdNeeds } from './system-sshd.ts';

/** The control commands for the two helpers of the system's sshd. */
export function sshdControlCommands(needs: SystemSshdNeeds): Record<string, ControlCommand> {
  const sshd = createSystemSshd(needs);
  return {
    /** Returns the id of the key, or nothing. */
    async 'ssh.keys'(parameters, { output }) {
      const id = await sshd.keyId(String(parameters['type']), String(parameters['key']));
      if (id !== null) output.write(id);
      return 0;
    },
    'ssh.shell': (parameters, { input, output, writeError, moved, signal }) =>
      sshd.serve({
        keyId: String(parameters['keyId']),
        command: String(parameters['command'] ?? ''),
        address: String(parameters['address'] ?? ''),
        port: Number(parameters['port'] ?? 0),
        protocol: typeof parameters['protocol'] === 'string' ? parameters['protocol'] : null,
        input,
        output,
        writeError,
        moved,
        signal,
      }),
  };
}
