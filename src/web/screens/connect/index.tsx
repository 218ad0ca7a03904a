import { Button, Select, Skeleton, Stack } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Client, type ClientKind, clientKinds, clients } from '../../../contract/clients/index.ts'
import { type Token, tokenStatus } from '../../../contract/entities/token.ts'
import { sitePath } from '../../lib/base-path.ts'
import { fullKey, hasKey } from '../../lib/full-key.ts'
import { useLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { rowsOf } from '../../ui/list/listing.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { ClientSteps } from './client-steps.tsx'
import styles from './connect.module.css'
import { FirstCall } from './first-call.tsx'
import { texts } from './texts.ts'

const documents = { zh: '/docs/use/calls.zh.html', en: '/docs/use/calls.html' }

/** From a token to a client that works: its settings with this address and key, and a first call. */
export function Screen() {
  const say = useText(texts)
  const language = useLanguage()
  const tokens = useQuery(read('GET /api/token/', { query: { p: 0, page_size: 100, sort: '-id', paged: true } }))
  const usable = rowsOf(tokens.data).filter((token) => token.status === tokenStatus.enabled && hasKey(token))
  return (
    <>
      <PageHeader
        title={say('title')}
        description={say('description')}
        actions={
          <Button component="a" variant="default" href={sitePath(documents[language])}>
            {say('documents')}
          </Button>
        }
      />
      {tokens.error && <ErrorView error={tokens.error} onRetry={() => void tokens.refetch()} />}
      {tokens.data && usable.length > 0 && <Connect tokens={usable} />}
      {tokens.data && usable.length === 0 && (
        <Empty
          icon={<IconKey />}
          title={say('tokenNone')}
          hint={say('tokenNoneHint')}
          action={
            <Button component={Link} to="/token">
              {say('tokenAdd')}
            </Button>
          }
        />
      )}
    </>
  )
}

function Connect({ tokens }: { tokens: readonly Token[] }) {
  const say = useText(texts)
  const address = useServerAddress()
  const all = useQuery(read('GET /api/user/models'))
  const { values, change } = useUrlState({ token: 0, model: '', client: clients[0]?.id ?? '' })

  const [first] = tokens
  const token = tokens.find(({ id }) => id === values.token) ?? first
  const client = clients.find(({ id }) => id === values.client) ?? clients[0]
  if (!token || !client) return null
  const models = modelsOf(token, all.data ?? [])
  const model = models.includes(values.model) ? values.model : (suggested(client, models) ?? '')
  const key = fullKey(token)

  return (
    <Stack gap="md">
      <Panel title={say('choose')}>
        <div className={styles.choices}>
          <ClientField value={client.id} onChange={(id) => change({ client: id })} />
          <Select
            label={say('token')}
            data={tokens.map(({ id, name }) => ({ value: String(id), label: name }))}
            value={String(token.id)}
            onChange={(id) => change({ token: Number(id) })}
            allowDeselect={false}
            searchable
          />
          <Select
            label={say('model')}
            data={[...models]}
            value={model || null}
            onChange={(name) => change({ model: name ?? '' })}
            nothingFoundMessage={say('modelNotFound')}
            error={all.data && models.length === 0 && say('modelNone')}
            allowDeselect={false}
            searchable
          />
        </div>
      </Panel>
      {all.isPending && <Skeleton height={280} radius="md" />}
      {all.error && <ErrorView error={all.error} onRetry={() => void all.refetch()} />}
      {model !== '' && (
        <>
          <ClientSteps client={client} setup={{ address, key, model }} models={models} />
          <FirstCall key={`${client.dialect} ${token.id} ${model}`} dialect={client.dialect} apiKey={key} model={model} />
        </>
      )}
    </Stack>
  )
}

function ClientField({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const say = useText(texts)
  const local = useLocal()
  // The keys of the table are its kinds, in their order.
  const kinds = Object.keys(clientKinds) as ClientKind[]
  return (
    <Select
      label={say('client')}
      data={kinds.map((kind) => ({
        group: local(clientKinds[kind]),
        items: clients.filter((client) => client.kind === kind).map(({ id, name }) => ({ value: id, label: name })),
      }))}
      value={value}
      onChange={(id) => id && onChange(id)}
      allowDeselect={false}
      searchable
    />
  )
}

/** The models that a token may use. */
function modelsOf(token: Token, all: readonly string[]): readonly string[] {
  if (!token.model_limits_enabled) return all
  const limits = new Set(token.model_limits.split(','))
  return all.filter((model) => limits.has(model))
}

const makers: Readonly<Record<Client['dialect'], RegExp>> = {
  chat: /^gpt-|^o\d|^deepseek|^qwen/i,
  responses: /^gpt-|^o\d/i,
  messages: /^claude/i,
  gemini: /^gemini/i,
}

/** A model that the client is usually used with, else any. */
function suggested({ dialect }: Client, models: readonly string[]): string | undefined {
  return models.find((model) => makers[dialect].test(model)) ?? models[0]
}
