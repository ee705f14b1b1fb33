import type { Application } from './applications/application.ts';

/** Who decides, and in which of their sessions. */
export interface PersonAsking {
  personId: string;
  sessionId: string;
}

/** What an application asks of a person. */
export interface ConsentRequest {
  uid: string;
  application: Application;
  /** One sentence for each kind of access. */
  wants: readonly string[];
  /** The address that the browser goes to with the answer. */
  leadsTo: string;
  /** What is to be done first: allow it, prove who they are again, or sign in with another account. */
  needs: 'consent' | 'confirmation' | 'another-account';
}

export interface DeviceRequest {
  application: Application;
  wants: readonly string[];
}

/**
 * What a person decides about requests of applications. Each refuses `unknown_request` for one that has expired, was
 * answered, or began in another session. `approve`, `confirm` and `deny` return the address that leads the browser on.
 */
export interface Consents {
  find(uid: string, asking: PersonAsking): Promise<ConsentRequest>;
  approve(uid: string, asking: PersonAsking): Promise<string>;
  /** After the person has proved again who they are (`prompt=login`, `max_age`). */
  confirm(uid: string, asking: PersonAsking): Promise<string>;
  deny(uid: string, asking: PersonAsking): Promise<string>;
  /** By the code that a device shows; null for one that is unknown, over or answered. */
  findDevice(userCode: string): Promise<DeviceRequest | null>;
  approveDevice(userCode: string, asking: PersonAsking): Promise<void>;
  denyDevice(userCode: string): Promise<void>;
}
