"""The commonest telling words of further languages: Chinese, Japanese, Korean, Russian, Polish, Swedish.

Chinese, Japanese and Korean words are found inside longer runs of characters, because these are written without spaces.
"""

WORDS: dict[str, str] = {
    "code_noun": """
        代码, 源码, 函数, 文件里, 文件中, 哪个文件, 类, 接口, 模块, 中间件, 测试用例, 变量, 报错, 实现, 算法, 脚本,
        调用, コード, ソース, 関数, メソッド, クラス, ファイル, モジュール, ミドルウェア, 変数, 実装, 登録されて,
        呼び出, エラー, テスト, 코드, 함수, 클래스, 파일, 모듈, код*, функци*, класс, модул*, файл*, тест*, метод*,
        kod, kodzie, kodu, funkcja, funkcje, funkcji, klasa, klasy, modul, plik, pliku, pliki, metoda, testy, koden,
        funktionen, klassen, filen, metoden
    """,
    "vault_noun": """
        笔记, 纪要, 会议记录, 页面, 文档, 讨论串, メモ, ノート, 議事録, ページ, スレッド, ドキュメント, 메모, 노트,
        회의록, 페이지, 스레드, заметк*, страниц*, протокол*, документ*, notatk*, stron*, protokol*, dokument*, watek,
        watku, anteckning*, sida, sidan, protokollet, tråden
    """,
    "docref": """
        讨论串, 讨论, スレッド, 議論, 스레드, обсужд*, dyskusj*, watku, diskussion*, tråden
    """,
    "decision": """
        为什么选, 决定, 选择了, 我们为什么, 约定, 決定, 決ま, 選ん, 選択, 採用, 결정, 선택, реши*, выбра*, договор*,
        wybral*, ustalil*, zdecydow*, postanow*, valde, bestämde, beslut*
    """,
    "rule": """
        政策, 规定, 流程, 申请, 权限, 规则, ポリシー, ルール, 手順, 規則, 申請, 정책, правил*, политик*, zasad*,
        regul*, regler, policyn
    """,
    "owner": """
        谁负责, 负责人, 担当者, 担当, 담당, отвечает, владелец, odpowiada, wlasciciel, ansvarar, ansvarig
    """,
    "meeting": """
        会议, 会議, 회의, встреч*, spotkani*, mötet, möten
    """,
    "own": """
        我们, 我们的, 咱们, 私たち, 当社, 弊社, 우리, мы, наш, наша, наши, нашей, нашем, my, nasz*, nasza, vi, vår,
        våra, vårt
    """,
    "world": """
        天气, 汇率, 新闻, 股价, 天気, ニュース, 為替, 株価, 날씨, 뉴스, 환율, погод*, новост*, курс, pogod*, kurs,
        wiadomosc*, vädret, nyheter
    """,
    "version": """
        最新版本, 新功能, 重大变更, 更新内容, 新特性, 最新バージョン, 新機能, 変更点, 최신 버전, 신기능,
        последн* верси*, последняя верси*, новая верси*, najnowsz*, senaste versionen
    """,
    "thanks": """
        谢谢, 多谢, 感谢, ありがとう, どうも, 감사합니다, 고마워, спасибо, благодарю, dziekuje, dzięki, dziękuję,
        tack, tack så mycket
    """,
    "greeting": """
        你好, 您好, 早上好, こんにちは, おはよう, こんばんは, 안녕하세요, привет, здравствуйте, dzien dobry, czesc,
        cześć, hej, god morgon
    """,
    "assistant": """
        你是谁, 你能做什么, あなたは誰, 누구세요, кто ты, kim jestes, vem är du
    """,
    "previous": """
        再说一遍, 简短一点, もう一度, 短くして, 다시 말해, повтори, короче, powtorz, krocej, en gång till
    """,
    # A wish for a lasting record, wherever in the sentence it stands.
    "record": """
        新建, 创建, 添加, 写进, 写入, 写到, 记录到, 记录下来, 记下, 保存, 删除, 重命名, 回复, 更新到, 作成して,
        追加して, 保存して, 記録して, 書いて, 削除して, 返信して, 更新して, メモして, 작성해, 추가해, 저장해, 삭제해,
        기록해, добавь*, удали*, запиши*, создай*, сохрани*, dodaj, usun, zapisz, utworz, stworz, usuń, utwórz,
        lägg till, skriv, spara, ta bort
    """,
}
