import { z } from 'zod'
import { parseLine, type Route } from '../../../contract/route.ts'
import { allRoutes } from '../../../contract/routes/index.ts'
import { relayCalls } from './relay-calls.ts'

type Json = Record<string, unknown>

const made = new Map<string, Json>()

/**
 * The calls of the relay, and of the console too unless only the relay's are wanted, as an OpenAPI 3.1 document, made from the tables of
 * paths. `basePath`: what all paths are below.
 */
export function openApi(version: string, basePath = '', wanted: 'all' | 'relay' = 'all'): Json {
  const key = `${version} ${basePath} ${wanted}`
  const known = made.get(key)
  if (known) return known
  const document = describe(version, basePath, wanted === 'all' ? Object.entries(allRoutes) : [])
  made.set(key, document)
  return document
}

function describe(version: string, basePath: string, routes: readonly (readonly [string, Route])[]): Json {
  const paths: Record<string, Json> = {}
  for (const call of relayCalls()) paths[call.path] = { ...paths[call.path], [call.method.toLowerCase()]: relayOperation(call) }
  for (const [line, route] of routes) {
    const { method, path } = parseLine(line)
    const template = path.replace(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation(line, route) }
  }

  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      description:
        'Calls of the relay take a key `sk-…`, and have the bodies, statuses and errors of their vendor. An answer of the console is ' +
        '`{ success, message, data }`. A refusal there is HTTP 200 with `success: false` and a stable `code`; only 401, 403 of ' +
        'another origin, 405, 413, 415, 429 and 5xx keep their HTTP status.',
    },
    ...(basePath === '' ? {} : { servers: [{ url: basePath }] }),
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A key `sk-…` of the screen Tokens' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'session',
          description: '`__Host-session` when the server address is https; `__Secure-session` then, below a BASE_PATH',
        },
        accessToken: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'System access token, with or without `Bearer`',
        },
        user: {
          type: 'apiKey',
          in: 'header',
          name: 'New-Api-User',
          description: 'Id of the calling user; needed beside either of the others',
        },
      },
      responses: { Refusal: { description: 'Refused', content: json(refusal) } },
    },
  }
}

function relayOperation({ method, path, tag, summary, vendor, example }: ReturnType<typeof relayCalls>[number]): Json {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  const inPath = names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  const key = { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' }, description: repeatText }
  const named = path.startsWith('/v1/') ? { properties: { model: { type: 'string' } } } : {}
  const body = json({ type: 'object', ...named, additionalProperties: true, ...(example ? { example } : {}) })
  return {
    operationId: `${method} ${path}`,
    tags: [tag],
    summary,
    ...(vendor === undefined ? {} : { externalDocs: { url: vendor, description: 'Body and answer' } }),
    security: [{ key: [] }],
    parameters: [...inPath, ...(method === 'POST' ? [key] : [])],
    ...(method === 'POST' ? { requestBody: { required: true, content: body } } : {}),
    responses: {
      200: {
        description: "The vendor's answer",
        headers: {
          'x-request-id': { description: 'The id of the call in the log', schema: { type: 'string' } },
          'x-sluice-dropped': {
            description: 'Members of the request that the model has no equivalent for',
            schema: { type: 'string' },
          },
        },
      },
      default: { description: 'An error in the form of the dialect; docs/reference/errors has the codes' },
    },
  }
}

const repeatText = 'A repeat with the same key gets the same answer, and is charged once'

const refusal = {
  type: 'object',
  properties: { success: { const: false }, message: { type: 'string' }, code: { type: 'string' } },
  required: ['success', 'message'],
}

function operation(line: string, route: Route): Json {
  return {
    operationId: line,
    tags: ['Console'],
    summary: route.summary,
    description: `Access: ${route.access}`,
    security:
      route.access === 'public'
        ? []
        : [
            { session: [], user: [] },
            { accessToken: [], user: [] },
          ],
    parameters: [...parameters('path', route.params), ...parameters('query', route.query)],
    ...(route.body ? { requestBody: { required: true, content: bodyOf(route, route.body) } } : {}),
    responses: {
      200: { description: 'Done, or refused', content: contentOf(route) },
      default: { $ref: '#/components/responses/Refusal' },
    },
  }
}

function bodyOf(route: Route, body: z.ZodType): Json {
  return route.bodyAs === 'text' ? { '*/*': { schema: { type: 'string' } } } : json(withNeeded(schemaOf(body, 'input')))
}

function contentOf(route: Route): Json {
  if (route.text) return { [route.text.type]: { schema: { type: 'string' } }, ...json(refusal) }
  return json({ anyOf: [answer(route), refusal] })
}

function answer(route: Route): Json {
  const { properties = {}, required = [] } = route.extra ? schemaOf(route.extra, 'output') : {}
  return {
    type: 'object',
    // The schema of an object has its fields here.
    properties: {
      ...{ success: { const: true }, message: { type: 'string' }, data: schemaOf(route.reply, 'output') },
      ...(properties as Json),
    },
    required: [...new Set(['success', 'message', 'data', ...(required as string[])])],
  }
}

/**
 * Adds the fields that are marked as `needed` to the required ones: the schema accepts input without them, but the handler then
 * reports them as missing.
 */
function withNeeded(schema: Json): Json {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Json>)
  const needed = fields.filter(([, field]) => field.needed === true).map(([name]) => name)
  if (needed.length === 0) return schema
  const plain = fields.map(([name, { needed: _marked, ...field }]) => [name, field])
  return { ...schema, properties: Object.fromEntries(plain), required: [...((schema.required ?? []) as string[]), ...needed] }
}

function parameters(place: 'path' | 'query', object: z.ZodObject | undefined): Json[] {
  return Object.entries(object?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path' || !z.safeParse(schema, undefined).success,
    schema: schemaOf(schema, 'input'),
  }))
}

function schemaOf(schema: z.core.$ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return plain
}

function json(schema: Json): Json {
  return { 'application/json': { schema } }
}
