import { Group, SegmentedControl, Select, Stack } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useNarrow } from '../../lib/narrow.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import type { ChatRequest } from '../../lib/stream-chat.ts'
import shared from '../../ui/shared.module.css'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { type CodeKind, codeKinds, codeNames, codeOf, hasPictures } from './request-code.ts'
import { texts } from './texts.ts'

/** The request of each column as a command or a program. */
export function RequestCode({ requests }: { requests: readonly ChatRequest[] }) {
  const say = useText(texts)
  const narrow = useNarrow()
  const [kind, setKind] = useState<CodeKind>('curl')
  const [lane, setLane] = useState(0)
  const address = useServerAddress()
  const request = requests[lane] ?? requests[0]
  if (!request) return null
  return (
    <Stack gap="sm">
      <p className={shared.hint}>{request.group ? say('codeHint', { group: request.group }) : say('codeHintAny')}</p>
      <Group gap="sm">
        <SegmentedControl
          aria-label={say('code')}
          orientation={narrow ? 'vertical' : 'horizontal'}
          fullWidth={narrow}
          value={kind}
          onChange={setKind}
          data={codeKinds.map((value) => ({ value, label: codeNames[value] }))}
        />
        {requests.length > 1 && (
          <Select
            aria-label={say('model')}
            allowDeselect={false}
            value={String(lane)}
            onChange={(next) => setLane(Number(next))}
            data={requests.map(({ model }, place) => ({ value: String(place), label: model || say('modelMissing') }))}
          />
        )}
      </Group>
      <CodeBlock>{codeOf(kind, request, address)}</CodeBlock>
      {hasPictures(request) && <p className={shared.hint}>{say('codePictures')}</p>}
    </Stack>
  )
}
