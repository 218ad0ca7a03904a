import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../../contract/errors.ts'
import { parseLine } from '../../../contract/route.ts'
import { languageOf } from '../../../contract/text.ts'
import { type AppError, fail } from '../../base/lib/failure.ts'
import {
  changeGroup,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  replaceGroup,
} from '../../people/organisations/scim/groups.ts'
import { readOperations } from '../../people/organisations/scim/patch.ts'
import { readGroup, readUser } from '../../people/organisations/scim/read.ts'
import {
  listResponse,
  pageMax,
  resourceTypes,
  schemas,
  serviceProviderConfig,
  urn,
} from '../../people/organisations/scim/resources.ts'
import { findScimOrganisation } from '../../people/organisations/scim/token.ts'
import { changeUser, createUser, deleteUser, getUser, listUsers, replaceUser } from '../../people/organisations/scim/users.ts'
import type { App } from '../../watch/parts.ts'
import type { ClientLimits } from './authorize-route.ts'
import { answerFailure } from './failures.ts'
import { inForce } from './mount.ts'

/** SCIM 2.0 (RFC 7644) for the directories of organisations: its own paths, bodies and errors, and no session. */
interface ScimCall {
  readonly app: App
  readonly organisationId: number
  readonly id: string
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
}

interface ScimReply {
  readonly status?: 200 | 201 | 204
  readonly body?: object
}

const contentType = 'application/scim+json; charset=utf-8'
/** A change of a group may name a thousand members. */
const bodyMax = 1024 * 1024
const countUsual = 100

/** Every call of SCIM. */
export const scimLines: Readonly<Record<string, (call: ScimCall) => Promise<ScimReply> | ScimReply>> = {
  'GET /scim/v2/ServiceProviderConfig': ({ app }) => ({ body: serviceProviderConfig(app) }),
  'GET /scim/v2/ResourceTypes': ({ app }) => ({ body: all(resourceTypes(app)) }),
  'GET /scim/v2/ResourceTypes/:id': ({ app, id }) => ({ body: oneOf(resourceTypes(app), id) }),
  'GET /scim/v2/Schemas': ({ app }) => ({ body: all(schemas(app)) }),
  'GET /scim/v2/Schemas/:id': ({ app, id }) => ({ body: oneOf(schemas(app), id) }),

  async 'GET /scim/v2/Users'({ app, organisationId, query }) {
    return { body: listResponse(await listUsers(app, organisationId, pageOf(query))) }
  },
  async 'POST /scim/v2/Users'({ app, organisationId, body }) {
    return { status: 201, body: await createUser(app, organisationId, readUser(body)) }
  },
  async 'GET /scim/v2/Users/:id'({ app, organisationId, id }) {
    return { body: await getUser(app, organisationId, id) }
  },
  async 'PUT /scim/v2/Users/:id'({ app, organisationId, id, body }) {
    return { body: await replaceUser(app, organisationId, id, readUser(body)) }
  },
  async 'PATCH /scim/v2/Users/:id'({ app, organisationId, id, body }) {
    return { body: await changeUser(app, organisationId, id, readOperations(body)) }
  },
  async 'DELETE /scim/v2/Users/:id'({ app, organisationId, id }) {
    await deleteUser(app, organisationId, id)
    return { status: 204 }
  },

  async 'GET /scim/v2/Groups'({ app, organisationId, query }) {
    const asked = { ...pageOf(query), withMembers: wantsMembers(query) }
    return { body: listResponse(await listGroups(app, organisationId, asked)) }
  },
  async 'POST /scim/v2/Groups'({ app, organisationId, body }) {
    return { status: 201, body: await createGroup(app, organisationId, readGroup(body)) }
  },
  async 'GET /scim/v2/Groups/:id'({ app, organisationId, id, query }) {
    return { body: await getGroup(app, organisationId, id, wantsMembers(query)) }
  },
  async 'PUT /scim/v2/Groups/:id'({ app, organisationId, id, body }) {
    return { body: await replaceGroup(app, organisationId, id, readGroup(body)) }
  },
  async 'PATCH /scim/v2/Groups/:id'({ app, organisationId, id, body }) {
    await changeGroup(app, organisationId, id, readOperations(body))
    return { status: 204 }
  },
  async 'DELETE /scim/v2/Groups/:id'({ app, organisationId, id }) {
    await deleteGroup(app, organisationId, id)
    return { status: 204 }
  },
}

/** Registers every call. */
export function mountScim(server: FastifyInstance, app: App, { clientOf, requests }: ClientLimits): void {
  const organisations = new WeakMap<FastifyRequest, number>()
  server.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) =>
      answerFailure(app, { request, reply }, error, (failure) => sendError(request, reply, failure)),
    )
    // Before the body is read: a caller without a token cannot make the server read one.
    scope.addHook('onRequest', async (request) => {
      await requests.count(['directory'], clientOf(request.raw).address)
      organisations.set(request, await requireOrganisation(app, request))
      if (request.method !== 'GET' && app.options.current.DemoSiteEnabled) fail('demo_site')
    })
    for (const [line, handle] of Object.entries(scimLines)) {
      const { method, path } = parseLine(line)
      scope.route({
        // Methods of the table.
        method: method as 'GET',
        url: path,
        bodyLimit: bodyMax,
        handler: async (request, reply) => {
          const call = { app, organisationId: organisations.get(request) ?? fail('scim_token_invalid'), ...partsOf(request) }
          const { status = 200, body } = (await inForce(app, () => handle(call))) as ScimReply
          return reply
            .status(status)
            .type(contentType)
            .send(body && JSON.stringify(body))
        },
      })
    }
  })
}

/** The organisation of the token. Throws `scim_token_invalid`. */
async function requireOrganisation(app: App, { headers }: FastifyRequest): Promise<number> {
  const token = /^bearer +([\w-]{20,200})$/i.exec(headers.authorization?.trim() ?? '')?.[1]
  return (token && (await findScimOrganisation(app, token))) || fail('scim_token_invalid')
}

function partsOf({ params, query, body }: FastifyRequest): Pick<ScimCall, 'id' | 'query' | 'body'> {
  // The router makes objects of texts; a parameter that is sent twice is a list.
  const { id = '' } = params as { id?: string }
  const asked = Object.entries(query as Record<string, unknown>).map(([name, value]) => [
    name.toLowerCase(),
    String(Array.isArray(value) ? value[0] : value),
  ])
  return { id, body, query: Object.fromEntries(asked) }
}

function pageOf({ filter = '', startindex, count }: ScimCall['query']) {
  return {
    filter: filter.trim(),
    startIndex: Math.max(1, wholeNumber(startindex, 1)),
    count: Math.min(pageMax, Math.max(0, wholeNumber(count, countUsual))),
  }
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^-?\d{1,9}$/.test(text) ? Number(text) : otherwise
}

/** Whether `attributes` and `excludedAttributes` leave members in. */
function wantsMembers({ attributes = '', excludedattributes = '' }: ScimCall['query']): boolean {
  const names = (list: string) =>
    list
      .toLowerCase()
      .split(',')
      .map((name) => name.trim().replace(/^urn:.*:/, ''))
  if (names(excludedattributes).includes('members')) return false
  return attributes === '' || names(attributes).some((name) => name === 'members' || name.startsWith('members.'))
}

function all(resources: readonly object[]): object {
  return listResponse({ resources, total: resources.length, startIndex: 1 })
}

function oneOf(resources: readonly object[], id: string): object {
  return resources.find((each) => 'id' in each && each.id === id) ?? fail('not_found')
}

const scimTypes: Readonly<Partial<Record<ErrorCode, string>>> = {
  scim_user_taken: 'uniqueness',
  scim_group_taken: 'uniqueness',
  username_taken: 'uniqueness',
  email_taken: 'uniqueness',
  scim_only_owner: 'mutability',
  scim_filter_invalid: 'invalidFilter',
  scim_path_invalid: 'invalidPath',
  scim_value_invalid: 'invalidValue',
  bad_json: 'invalidSyntax',
}

function sendError(request: FastifyRequest, reply: FastifyReply, failure: AppError): FastifyReply {
  const { status } = failure.kind
  const scimType = scimTypes[failure.code]
  const detail = failure.text(languageOf(request.headers['accept-language']))
  const body = { schemas: [urn.error], status: String(status), ...(scimType ? { scimType } : {}), detail }
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  return reply.status(status).type(contentType).send(JSON.stringify(body))
}
