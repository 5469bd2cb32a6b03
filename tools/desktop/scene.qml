// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// usage: qml scene.qml -- PICTURE
//
// A still scene, written to PICTURE when it has been shown: gradients, smooth edges,
// opacity, clipping, a layer that is scaled, and text.
import QtQuick

Window {
    id: window
    visible: true
    width: 256
    height: 256
    color: "#203040"

    // The window has to be there before it can be asked for a picture.
    Timer {
        interval: 200
        running: true
        repeat: true
        onTriggered: {
            const list = Qt.application.arguments;
            if (scene.grabToImage(result =>
                    Qt.exit(result.saveToFile(list[list.length - 1]) ? 0 : 1)))
                stop();
        }
    }

    Item {
        id: scene
        anchors.fill: parent

        // The picture is of this item, and without the window's colour.
        Rectangle { anchors.fill: parent; color: window.color }
        Rectangle {
            x: 8; y: 8; width: 112; height: 72
            radius: 16
            border { width: 3; color: "white" }
            gradient: Gradient {
                GradientStop { position: 0; color: "#ff4020" }
                GradientStop { position: 0.4; color: "#ffd040" }
                GradientStop { position: 1; color: "#2040ff" }
            }
        }
        Rectangle {
            x: 156; y: 16; width: 64; height: 64
            rotation: 30
            antialiasing: true
            color: "#40c080"
            Rectangle {
                anchors.centerIn: parent
                width: 96; height: 24
                antialiasing: true
                color: "#80ff2080"
            }
        }
        Item {
            x: 8; y: 96; width: 112; height: 72
            clip: true
            Repeater {
                model: 7
                Rectangle {
                    x: 18 * index - 12; y: 10 * index - 12
                    width: 40; height: 40
                    radius: 20
                    color: Qt.hsla(index / 7, 0.8, 0.5, 0.6)
                }
            }
        }
        Item {
            x: 136; y: 104; width: 104; height: 64
            opacity: 0.6
            layer { enabled: true; smooth: true; textureSize: Qt.size(52, 32) }
            Rectangle { width: 64; height: 64; color: "orange" }
            Rectangle { x: 40; width: 64; height: 64; radius: 32; color: "purple" }
        }
        Text {
            x: 8; y: 176
            text: "Apple M1"
            color: "white"
            font { family: "DejaVu Sans"; pixelSize: 28 }
        }
        Text {
            x: 8; y: 216
            text: "outlined, turned"
            color: "#ffd040"
            style: Text.Outline
            styleColor: "#802020"
            rotation: -5
            font { family: "DejaVu Sans"; pixelSize: 20; bold: true }
        }
    }
}
