import { SegmentedControl, Stack } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import type { ChatRequest } from '../../lib/stream-chat.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import styles from './playground.module.css'
import { type CodeKind, codeKinds, codeNames, codeOf } from './request-code.ts'
import { texts } from './texts.ts'

/** The current request as a command or a program. */
export function RequestCode({ request }: { request: ChatRequest }) {
  const say = useText(texts)
  const [kind, setKind] = useState<CodeKind>('curl')
  const address = useStatus().server_address || location.origin
  return (
    <Stack gap="sm">
      <p className={styles.quiet}>{request.group ? say('codeHint', { group: request.group }) : say('codeHintAny')}</p>
      <SegmentedControl
        aria-label={say('code')}
        value={kind}
        onChange={setKind}
        data={codeKinds.map((value) => ({ value, label: codeNames[value] }))}
      />
      <CodeBlock>{codeOf(kind, request, address)}</CodeBlock>
    </Stack>
  )
}
