import { invalid } from '../../kernel/index.ts';
import type { Json } from './json-fields.ts';

/** The JSON object in a body. Throws `activity_malformed`. */
export function parseActivity(body: Buffer): Json {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  } catch {
    // Reported below.
  }
  throw invalid('activity_malformed', 'The body is not a JSON object.');
}
