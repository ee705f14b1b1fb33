import { unavailable } from '../../kernel/index.ts';

/** Replaces the system's message for a failed listen by a helpful one. */
export function explainListenError(error: unknown): unknown {
  const fault = [error, error instanceof Error ? error.cause : null].find(isListenFault);
  if (fault === undefined) return error;
  const where = `${fault.address}:${fault.port}`;
  const options = { cause: error };
  if (fault.code === 'EADDRINUSE')
    return unavailable('port_in_use', `Another program is already listening on ${where}.`, options);
  if (fault.code === 'EACCES')
    return unavailable('port_forbidden', `This user is not permitted to listen on ${where}.`, options);
  if (fault.code === 'EADDRNOTAVAIL')
    return unavailable('no_such_address', `This machine does not have the address ${fault.address}.`, options);
  return error;
}

type ListenFault = NodeJS.ErrnoException & { address?: string; port?: number };

function isListenFault(error: unknown): error is ListenFault {
  return error instanceof Error && 'syscall' in error && error.syscall === 'listen';
}
