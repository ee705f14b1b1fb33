import { z } from 'zod';
import { yieldToEventLoop } from '../kernel/index.ts';
import { requiredAccess } from './authorize-call.ts';
import type { Operation, Tag } from './operation.ts';
import { error as errorSchema } from './v1/shapes/schemas.ts';

type Json = { [name: string]: unknown };

/** The part of an OpenAPI 3.1 document that this program reads again. */
export interface OpenApi extends Json {
  paths: Record<string, Record<string, OpenApiOperation>>;
}

export interface OpenApiOperation extends Json {
  operationId: string;
  tags: [Tag];
  summary: string;
  description?: string;
  parameters: OpenApiParameter[];
  security: Json[];
}

interface OpenApiParameter extends Json {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
}

const about = `The JSON API of this server. Send an access token with "Authorization: Bearer hth_…"; create one under
Settings → Access tokens. Without a token, requests are anonymous. Cookies are ignored.
A repository that is hidden from the caller returns the same response as one that does not exist.
Names of owners and repositories are case-insensitive. Text is UTF-8, times are ISO 8601 in UTC.`.replaceAll('\n', ' ');

const words: Record<number, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Created, with the status that Gitea returns',
  204: 'Done; the response has no body',
  304: 'Unchanged since the ETag in If-None-Match',
  400: 'The request is malformed',
  401: 'The token is missing, invalid, expired or revoked',
  403: 'The token lacks the required scope (insufficient_scope), its owner has not chosen a username yet (onboarding_required), or its owner is not an administrator (administrator_needed)',
  404: 'Does not exist, or is hidden from the caller',
  409: 'Conflicts with the current state',
  412: 'The revision does not match If-Match',
  413: 'The body is too large',
  415: 'Unsupported media type',
  422: 'The input is invalid',
  429: 'Too many requests or too many wrong passwords; Retry-After gives the time to wait',
  500: 'Internal server error',
  503: 'The server is busy; Retry-After gives the time to wait',
};

/**
 * Generates the document from the operations and the schemas that check their input. Takes some hundred milliseconds,
 * with pauses for other work.
 */
export async function openApiOf(operations: readonly Operation[], version: string): Promise<OpenApi> {
  const schemas: Json = {};
  /** JSON Schema of a shape; named shapes go to the components, once. */
  const schemaOf = (shape: z.ZodType, io: 'input' | 'output'): Json => {
    const { $schema: _, $defs = {}, ...schema } = z.toJSONSchema(shape, { io }) as Json & { $defs?: Json };
    for (const [name, definition] of Object.entries($defs)) schemas[name] = toComponents(definition as Json);
    return toComponents(schema);
  };
  const error = { 'application/json': { schema: schemaOf(errorSchema, 'output') } };

  const paths: OpenApi['paths'] = {};
  for (const operation of operations) {
    await yieldToEventLoop();
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      ...(operation.description !== undefined && { description: operation.description }),
      security: requiredAccess(operation).needsToken ? [{ token: [] }] : [{}, { token: [] }],
      parameters: [...pathParameters(operation), ...queryParameters(operation, schemaOf), ...headers(operation)],
      ...(operation.body !== undefined && { requestBody: bodyOf(operation.body, schemaOf) }),
      responses: responsesOf(operation, schemaOf, error),
    };
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Hearth', version, description: about, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/api/v1' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'Personal access token' } },
    },
  };
}

type SchemaOf = (shape: z.ZodType, io: 'input' | 'output') => Json;

const toComponents = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;

function pathParameters({ path }: Operation): OpenApiParameter[] {
  return [...path.matchAll(/\{([a-z]+)\}/gi)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: Operation, schemaOf: SchemaOf): OpenApiParameter[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(typeof description === 'string' && { description }),
    schema,
  }));
}

const headers = ({ takesIfMatch }: Operation): OpenApiParameter[] =>
  takesIfMatch
    ? [
        {
          name: 'If-Match',
          in: 'header',
          required: false,
          description: 'The `revision` that the caller has seen; a different one is rejected with 412',
          schema: { type: 'string' },
        },
      ]
    : [];

function bodyOf(body: z.ZodType | 'image' | 'file' | 'text', schemaOf: SchemaOf): Json {
  if (body === 'file') {
    const schema = {
      type: 'object',
      required: ['attachment'],
      properties: { attachment: { type: 'string', format: 'binary' } },
    };
    return { required: true, content: { 'multipart/form-data': { schema } } };
  }
  if (body === 'text') return { required: true, content: { 'text/plain': { schema: { type: 'string' } } } };
  if (body !== 'image') return { required: true, content: { 'application/json': { schema: schemaOf(body, 'input') } } };
  const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
  return { required: true, content: Object.fromEntries(types.map((type) => [type, {}])) };
}

function responsesOf(operation: Operation, schemaOf: SchemaOf, error: Json): Json {
  const { response, status, body, path, method, isPaged, refuses = [] } = operation;
  const content =
    response === undefined
      ? {}
      : response === 'bytes'
        ? { content: { '*/*': {} } }
        : { content: { 'application/json': { schema: schemaOf(response, 'output') } } };
  const link = isPaged
    ? {
        headers: {
          Link: { description: 'Link to the next page, rel="next"', schema: { type: 'string' } },
          'X-Total-Count': { description: 'Total number of results, if known', schema: { type: 'integer' } },
        },
      }
    : {};
  const refusals = new Set<number>([400, 401, 403, 429, 500, 503, ...refuses]);
  if (/\{(?:owner|commit)\}/.test(path)) refusals.add(404);
  if (path.includes('{owner}') && method !== 'GET') refusals.add(409);
  if (body !== undefined) refusals.add(413).add(415).add(422);
  if (operation.query !== undefined) refusals.add(422);
  if (operation.takesIfMatch) refusals.add(412);
  const responses: Json = { [status]: { description: words[status], ...content, ...link } };
  if (operation.alsoStatus !== undefined)
    responses[operation.alsoStatus] = { description: words[operation.alsoStatus] };
  if (method === 'GET' && response !== 'bytes') responses[304] = { description: words[304] };
  for (const refusal of [...refusals].sort()) responses[refusal] = { description: words[refusal], content: error };
  return responses;
}
