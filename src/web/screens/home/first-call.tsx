import { Box, Button, Group, Select } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { useText } from '../../lib/i18n.ts'
import { invalidate, read } from '../../lib/query.ts'
import { streamChat } from '../../lib/stream-chat.ts'
import { rowsOf } from '../../ui/list/listing.ts'
import { Notice } from '../../ui/page/notice.tsx'
import styles from './home.module.css'
import { texts } from './texts.ts'

type Outcome = { readonly kind: 'answer' | 'error'; readonly text: string }

/** Sends one real request through the site, and shows the reply: the last step of a new installation. */
export function FirstCall() {
  const say = useText(texts)
  const client = useQueryClient()
  const models = useQuery(read('GET /api/user/models'))
  const usual = useTestedModel()
  const [chosen, setChosen] = useState('')
  const [busy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<Outcome>()
  const names = models.data ?? []
  const only = names.length === 1 ? (names[0] ?? '') : ''
  const model = chosen || (names.includes(usual) ? usual : only)

  async function send(): Promise<void> {
    setBusy(true)
    setOutcome(await askOnce(model, say('firstQuestion')))
    setBusy(false)
    await invalidate(client, ['GET /api/system/first_run', 'GET /api/user/self'])
  }

  return (
    <Box w="100%">
      <Group gap="xs" align="stretch">
        <Select
          aria-label={say('firstModel')}
          placeholder={say('firstModel')}
          data={[...names]}
          value={model || null}
          onChange={(next) => setChosen(next ?? '')}
          searchable
          allowDeselect={false}
        />
        <Button leftSection={<IconPlayerPlay size={16} />} loading={busy} disabled={model === ''} onClick={() => void send()}>
          {say('firstSend')}
        </Button>
      </Group>
      {outcome?.kind === 'answer' && (
        <blockquote className={styles.answer} lang="">
          {outcome.text}
        </blockquote>
      )}
      {outcome?.kind === 'error' && (
        <Notice
          kind="warn"
          action={
            <span className={styles.remedies}>
              <Link to="/channel">{say('firstChannels')}</Link>
              <Link to="/setting" search={{ tab: 'prices', view: 'unset' }}>
                {say('firstPrices')}
              </Link>
            </span>
          }
        >
          <span lang="">{outcome.text}</span>
        </Notice>
      )}
    </Box>
  )
}

/** The test model of the first channel: the first model by name may not support chat. */
function useTestedModel(): string {
  const query = { ...unfiltered, status: channelStatus.enabled, paged: true, p: 0, page_size: 1 }
  const { data } = useQuery(read('GET /api/channel/search', { query }))
  const [channel] = rowsOf(data)
  return channel?.test_model || channel?.models.split(',')[0] || ''
}

const unfiltered = { type: undefined, ascending: undefined }

async function askOnce(model: string, question: string): Promise<Outcome> {
  const request = { group: '', model, messages: [{ role: 'user', content: question } as const] }
  let text = ''
  for await (const event of streamChat(request, new AbortController().signal)) {
    if (event.kind === 'error') return { kind: 'error', text: event.message }
    if (event.kind === 'content') text += event.text
  }
  return { kind: 'answer', text }
}
