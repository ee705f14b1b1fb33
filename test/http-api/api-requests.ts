// requestsFor(document, pools) → an arbitrary of API requests, made from the OpenAPI document itself: every operation,
//   mostly with sensible input, often with wrong, hostile or missing input.
// responseChecker(document) → check(request, response): what is wrong with a response by the document, or null.
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import fc from 'fast-check';
import type { OpenApi, OpenApiOperation } from '../../src/http-api/index.ts';
import type { PageResponse } from '../fixtures/web-fixture.ts';

type Schema = { [name: string]: unknown };

export interface ApiRequest {
  operationId: string;
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/** Values that mean something on the server, by the name of what takes them: `owner`, `name`, `commit`. */
export interface Pools {
  values: Record<string, readonly string[]>;
  /** Authorization headers; `null` for none. */
  credentials: readonly (string | null)[];
  /** Of methods that change something. */
  mayChange: readonly (string | null)[];
}

const hostile = [
  '',
  ' ',
  '.',
  '..',
  '...',
  '%',
  '_',
  '%00',
  '\\',
  "'",
  '"',
  "' OR 1=1 --",
  '<script>',
  '\u202e',
  'İ',
  'ß',
  'Σς',
  '🔥',
  'a/b',
  'a b',
  '-rf',
  '--help',
  '__proto__',
  'constructor',
  'null',
  '0',
  '-1',
  '1e9',
  '9007199254740993',
  'HEAD',
  'refs/heads/main',
  'x'.repeat(300),
  '{}',
  '[]',
  '\u0001',
  '\n',
  '\ud7ff\ue000',
];

const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostile) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.toWellFormed()) },
);
const anyValue = fc.oneof(anyText, fc.jsonValue({ maxDepth: 2 }));

const operationsOf = ({ paths }: OpenApi): { path: string; method: string; operation: OpenApiOperation }[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

export function requestsFor(document: OpenApi, pools: Pools): fc.Arbitrary<ApiRequest> {
  const { schemas } = document['components'] as { schemas: Record<string, Schema> };

  // The pools change while requests are sent, so each draw looks anew.
  const known = (name: string, otherwise: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => {
    const values = pools.values[name];
    return values === undefined || values.length === 0
      ? otherwise
      : fc.oneof(
          { weight: 6, arbitrary: fc.nat().map((at) => values[at % values.length]!) },
          { weight: 1, arbitrary: otherwise },
        );
  };

  /** A value that a schema takes. */
  function valid(schema: Schema, name = ''): fc.Arbitrary<unknown> {
    const { $ref, anyOf, type, items, properties } = schema as {
      $ref?: string;
      anyOf?: Schema[];
      type?: string;
      items?: Schema;
      properties?: Record<string, Schema>;
    };
    if ($ref !== undefined) return valid(schemas[$ref.split('/').at(-1)!]!, name);
    if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => valid(one, name)));
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
    if (type === 'boolean') return fc.boolean();
    if (type === 'null') return fc.constant(null);
    if (type === 'integer')
      return fc.integer({ min: Number(schema['minimum'] ?? -5), max: Number(schema['maximum'] ?? 200) });
    if (type === 'array') return fc.array(valid(items ?? {}, name), { maxLength: 4 });
    if (type === 'object') {
      const required = (schema['required'] as string[] | undefined) ?? [];
      const fields = Object.fromEntries(
        Object.entries(properties ?? {}).map(([field, schema]) => [field, valid(schema, field)]),
      );
      return fc.record(fields, { requiredKeys: required } as never);
    }
    if (schema['format'] === 'date-time')
      return fc
        .date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true })
        .map((date) => date.toISOString());
    return known(name, anyText);
  }

  /** Mostly valid; sometimes with a field that is wrong, missing or unknown, or no object at all. */
  function body(schema: Schema): fc.Arbitrary<string> {
    const good = valid(schema) as fc.Arbitrary<Record<string, unknown>>;
    const spoiled = fc.tuple(good, fc.nat(8), anyText, anyValue).map(([value, at, field, other]) => {
      const names = [...Object.keys(value), field];
      return { ...value, [names[at % names.length]!]: other };
    });
    return fc.oneof(
      { weight: 8, arbitrary: good.map((value) => JSON.stringify(value)) },
      { weight: 4, arbitrary: spoiled.map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: anyValue.map((value) => JSON.stringify(value) ?? '') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '',
          '{',
          'null',
          '{"__proto__":{"x":1}}',
          '[[[[[[[[',
          '"\\ud800"',
          '{"name":"a","name":"b"}',
        ),
      },
    );
  }

  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const imageBody = fc.oneof({ weight: 3, arbitrary: fc.constant(png) }, { weight: 1, arbitrary: anyText });

  function ofOperation({ path, method, operation }: ReturnType<typeof operationsOf>[number]): fc.Arbitrary<ApiRequest> {
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
    const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query');
    const content = (operation['requestBody'] as { content: Record<string, { schema?: Schema }> } | undefined)?.content;
    const isJson = content?.['application/json'] !== undefined;
    return fc
      .record({
        path: fc.record(
          Object.fromEntries(
            inPath.map(({ name }) => [
              name,
              known(name, anyText).filter((text) => text !== '') as fc.Arbitrary<string>,
            ]),
          ),
        ),
        query: fc.record(
          Object.fromEntries(
            inQuery.map(({ name, schema }) => [
              name,
              fc.oneof({ weight: 5, arbitrary: valid(schema as Schema, name) }, { weight: 1, arbitrary: anyText }),
            ]),
          ),
          { requiredKeys: [] },
        ),
        extra: fc.option(fc.tuple(anyText, anyText), { freq: 10 }),
        credential: fc.constantFrom(...(method === 'get' ? pools.credentials : pools.mayChange)),
        type: fc.oneof(
          { weight: 12, arbitrary: fc.constant(isJson ? 'application/json' : 'image/png') },
          {
            weight: 1,
            arbitrary: fc.constantFrom(
              'text/plain',
              'image/gif',
              'application/x-www-form-urlencoded',
              'multipart/form-data',
            ),
          },
        ),
        body:
          content === undefined
            ? fc.constant(undefined)
            : isJson
              ? body(content['application/json']!.schema!)
              : imageBody,
        etag: fc.option(fc.constantFrom('*', 'W/"x"', '"'), { freq: 12 }),
      })
      .map(({ path: values, query, extra, credential, type, body, etag }) => {
        const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
        const search = new URLSearchParams(
          Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
        );
        if (extra !== null) search.append(extra[0], extra[1]);
        return {
          operationId: operation.operationId,
          method: method.toUpperCase(),
          target: `/api/v1${filled}${search.size === 0 ? '' : `?${search}`}`,
          headers: {
            ...(credential !== null && { Authorization: credential }),
            ...(body !== undefined && { 'Content-Type': type, 'Content-Length': String(Buffer.byteLength(body)) }),
            ...(etag !== null && method === 'get' && { 'If-None-Match': etag }),
          },
          ...(body !== undefined && { body }),
        };
      });
  }
  return fc.oneof(...operationsOf(document).map(ofOperation));
}

interface DocumentedResponse {
  content?: Record<string, { schema?: Schema }>;
}

/** Checks responses against the document: status, type, every field. */
export function responseChecker(document: OpenApi): (request: ApiRequest, response: PageResponse) => string | null {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'api');
  const validators = new Map<string, ValidateFunction>();
  const byId = new Map(operationsOf(document).map((each) => [each.operation.operationId, each]));

  return ({ operationId }, { status, headers, body }) => {
    const { path, method, operation } = byId.get(operationId)!;
    const documented = (operation['responses'] as Record<string, DocumentedResponse>)[status];
    if (status >= 500) return `a fault: ${status} ${body}`;
    if (documented === undefined) return `status ${status} is not in the document: ${body}`;
    const json = documented.content?.['application/json'];
    if (documented.content === undefined) return body === '' ? null : `status ${status} has a body: ${body}`;
    if (json === undefined) return null;
    if (headers['content-type'] !== 'application/json; charset=utf-8') return `type ${headers['content-type']}`;
    const pointer = ['paths', path, method, 'responses', String(status), 'content', 'application/json', 'schema'];
    const key = `api#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
    const validate = validators.get(key) ?? ajv.compile({ $ref: key });
    validators.set(key, validate);
    return validate(JSON.parse(body)) ? null : `${ajv.errorsText(validate.errors)}: ${body.slice(0, 500)}`;
  };
}
