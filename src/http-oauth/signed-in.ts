import type { IncomingMessage } from 'node:http';
import type { SessionViewer } from '../accounts/index.ts';

interface SignedIn extends SessionViewer {
  /** The secret of the session, to end it. */
  secret: string;
}

/** Who sent a request, for the callbacks of the library, which get the request and nothing else. */
const people = new WeakMap<IncomingMessage, SignedIn>();

export const rememberPerson = (request: IncomingMessage, person: SignedIn): void => void people.set(request, person);
export const personOf = (request: IncomingMessage): SignedIn | null => people.get(request) ?? null;
