import { Button, Group } from '@mantine/core'
import { IconCopy, IconDownload } from '@tabler/icons-react'
import { saveFile } from '../../lib/download.ts'
import { textOf, useText } from '../../lib/i18n.ts'
import { showDialog } from '../../ui/dialog/dialogs.tsx'
import shared from '../../ui/shared.module.css'
import { copyText } from '../../ui/view/copy-text.tsx'
import styles from './redemptions.module.css'
import { texts } from './texts.ts'

interface NewCodesProps {
  readonly keys: readonly string[]
  readonly name: string
  /** The value of each code, as text. */
  readonly amount: string
}

export function showNewCodes(made: NewCodesProps): void {
  void showDialog({
    title: textOf(texts, 'createdTitle'),
    body: <NewCodes {...made} />,
    cancelLabel: textOf(texts, 'done'),
    wide: true,
  })
}

/** New codes, to be saved as a file or copied. */
function NewCodes({ keys, name, amount }: NewCodesProps) {
  const say = useText(texts)
  const lines = `${keys.join('\n')}\n`
  return (
    <>
      <p className={shared.intro}>{say('createdHint', { count: keys.length, amount })}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre className={styles.made} tabIndex={0}>
        {lines}
      </pre>
      <Group mt="md" gap="xs">
        <Button leftSection={<IconDownload size={16} />} onClick={() => saveFile(fileName(name), lines)}>
          {say('download')}
        </Button>
        <Button
          variant="light"
          leftSection={<IconCopy size={16} />}
          onClick={() => void copyText(lines, say('bulkCopied', { count: keys.length }))}
        >
          {say('copyAll')}
        </Button>
      </Group>
    </>
  )
}

/** Named after the codes, without characters that file systems refuse. */
function fileName(name: string): string {
  return `${name.replace(/[\\/:*?"<>|\p{Cc}]/gu, '_')}.txt`
}
