import { Button } from '@mantine/core'
import { IconCopy } from '@tabler/icons-react'
import type { Token } from '../../../contract/entities/token.ts'
import { fullKey } from '../../lib/full-key.ts'
import { textOf, useText } from '../../lib/i18n.ts'
import { showDialog } from '../../ui/dialog/dialogs.tsx'
import shared from '../../ui/shared.module.css'
import { CopyButton, copyText } from '../../ui/view/copy-text.tsx'
import { texts } from './texts.ts'
import styles from './tokens.module.css'

/** Returns whether to connect a client with the first of them. */
export function showNewKeys(tokens: readonly Token[]): Promise<boolean> {
  return showDialog({
    title: textOf(texts, 'createdTitle'),
    body: <NewKeys tokens={tokens} />,
    confirmLabel: textOf(texts, 'connect'),
    cancelLabel: textOf(texts, 'done'),
    wide: true,
  })
}

/** The keys of tokens that were just made, ready to be copied. */
function NewKeys({ tokens }: { tokens: readonly Token[] }) {
  const say = useText(texts)
  const lines = tokens.map((token) => `${token.name}    ${fullKey(token)}`)
  return (
    <>
      <p className={shared.intro}>{say('createdHint')}</p>
      <ul className={`${shared.rows} ${styles.made}`}>
        {tokens.map((token) => (
          <li key={token.id}>
            <div className={shared.grow}>
              {token.name}
              <code>{fullKey(token)}</code>
            </div>
            <CopyButton text={fullKey(token)} label={token.name} />
          </li>
        ))}
      </ul>
      {tokens.length > 1 && (
        <Button
          mt="md"
          variant="light"
          leftSection={<IconCopy size={16} />}
          onClick={() => void copyText(lines.join('\n'), say('bulkCopied', { count: tokens.length }))}
        >
          {say('copyAll')}
        </Button>
      )}
    </>
  )
}
